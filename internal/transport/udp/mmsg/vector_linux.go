package mmsg

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vector is the kernel's view of a batch, one direction. All pointers in it are typed, so that the collector sees them.
type vector struct {
	v6      bool
	peer    netip.AddrPort // the socket is connected to; zero: to none
	headers []unix.Mmsghdr
	iovecs  []pair
	names   []unix.RawSockaddrInet6 // a RawSockaddrInet4 lies in its beginning
	control []control

	vlen  int // headers to be used by the next call
	done  int // datagrams of the last call
	errno unix.Errno

	withoutControl int               // datagrams received without ancillary data since the last with
	joins          bool              // datagrams may come joined, which ancillary data tell
	hint           int               // how many headers the next receive prepares
	mean           int               // bytes of a datagram of the last receive
	zones          map[string]uint32 // interface numbers of link-local addresses
	zoneNames      map[uint32]string
}

// pair is where a datagram lies: Buf and Tail.
type pair [2]unix.Iovec

// point sets the i-th header to the bytes of buf and tail. Pointers are written only if they change: each write is
// dear while the collector runs. That of an earlier tail stays behind.
func (v *vector) point(i int, buf, tail []byte) {
	h, p := &v.headers[i].Hdr, &v.iovecs[i]
	if base := unsafe.SliceData(buf); p[0].Base != base {
		p[0].Base = base
	}
	p[0].Len = uint64(len(buf))
	h.Iovlen = 1
	if len(tail) > 0 {
		if base := unsafe.SliceData(tail); p[1].Base != base {
			p[1].Base = base
		}
		p[1].Len = uint64(len(tail))
		h.Iovlen = 2
	}
}

// control is room for the ancillary data of one datagram, aligned as the kernel wants it: segment size and drop count.
type control [8]uint64

const (
	// callBytes is how much one call should copy at most, about 50 us: calls do not tell Go's scheduler, which must
	// not have to wait long for this thread when it stops all. Telling it would cost more than the time in which it
	// may lend the processor to others: both ends of a stream of large datagrams lose a fifth by it.
	callBytes = 256 << 10
	// tellEvery is how many datagrams that come alone may be received without asking how many were lost before them.
	tellEvery = 15
	// flags of every call.
	flags = unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL
)

func newVector(batch int, v6 bool) *vector {
	v := &vector{
		v6: v6, headers: make([]unix.Mmsghdr, batch), iovecs: make([]pair, batch),
		names: make([]unix.RawSockaddrInet6, batch), control: make([]control, batch), hint: 1,
		zones: map[string]uint32{}, zoneNames: map[uint32]string{},
	}
	for i := range v.headers {
		h := &v.headers[i].Hdr
		h.Iov, h.Iovlen = &v.iovecs[i][0], 1
		h.Name = (*byte)(unsafe.Pointer(&v.names[i]))
	}
	return v
}

// fillBatch prepares the front of batch to be sent and returns how many datagrams that is, and what is wrong with the
// next, if something is.
func (v *vector) fillBatch(batch []Datagram) (n int, err error) {
	bytes := 0
	for n < len(batch) && n < len(v.headers) {
		d := &batch[n]
		if err = d.CheckSize(); err == nil {
			err = v.writeName(n, d.Addr)
		}
		if err != nil {
			break
		}
		if bytes += len(d.Buf) + len(d.Tail); bytes > callBytes && n > 0 {
			break
		}
		h := &v.headers[n].Hdr
		v.point(n, d.Buf, d.Tail)
		h.Control, h.Controllen = nil, 0
		if d.Segment > 0 && d.Segment < len(d.Buf) {
			h.Control = (*byte)(unsafe.Pointer(&v.control[n]))
			h.Controllen = v.control[n].segment(d.Segment)
		}
		n++
	}
	v.vlen = n
	return n, err
}

// writeName writes the address of the i-th datagram. A connected socket needs none for its peer.
func (v *vector) writeName(i int, to netip.AddrPort) error {
	a, h := to.Addr(), &v.headers[i].Hdr
	switch {
	case to == v.peer && to.IsValid():
		h.Namelen = 0
	case a.Is4() && !v.v6:
		n := (*unix.RawSockaddrInet4)(unsafe.Pointer(&v.names[i]))
		n.Family, n.Port, n.Addr = unix.AF_INET, bigEndian(to.Port()), a.As4()
		h.Namelen = unix.SizeofSockaddrInet4
	case a.Is6() && !a.Is4In6() && v.v6:
		n := &v.names[i]
		n.Family, n.Port, n.Addr, n.Flowinfo, n.Scope_id = unix.AF_INET6, bigEndian(to.Port()), a.As16(), 0, 0
		if zone := a.Zone(); zone != "" {
			if n.Scope_id = v.scope(zone); n.Scope_id == 0 {
				return fmt.Errorf("%w: no interface for %v", errFamily, to)
			}
		}
		h.Namelen = unix.SizeofSockaddrInet6
	default:
		return fmt.Errorf("%w: %v", errFamily, to)
	}
	return nil
}

// bind binds a socket and returns its address, with the zone that was asked for.
func (v *vector) bind(fd uintptr, to netip.AddrPort) (netip.AddrPort, error) {
	if err := v.writeName(0, to); err != nil {
		return to, err
	}
	h := &v.headers[0].Hdr
	_, _, errno := unix.RawSyscall(unix.SYS_BIND, fd, uintptr(unsafe.Pointer(h.Name)), uintptr(h.Namelen))
	if errno == 0 {
		h.Namelen = unix.SizeofSockaddrInet6
		_, _, errno = unix.RawSyscall(unix.SYS_GETSOCKNAME, fd, uintptr(unsafe.Pointer(h.Name)),
			uintptr(unsafe.Pointer(&h.Namelen)))
	}
	if errno != 0 {
		return to, fmt.Errorf("mmsg: bind %v: %w", to, errno)
	}
	at := v.addr(0)
	return netip.AddrPortFrom(at.Addr().WithZone(to.Addr().Zone()), at.Port()), nil
}

// connectSocket connects a socket, and notes its peer.
func (v *vector) connectSocket(fd uintptr, to netip.AddrPort) bool {
	if v.writeName(0, to) != nil {
		return false
	}
	h := &v.headers[0].Hdr
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(h.Name)), uintptr(h.Namelen))
	if errno != 0 {
		return false
	}
	v.peer = to
	return true
}

// scope finds the number of an interface; 0 if there is none.
func (v *vector) scope(zone string) uint32 {
	id, ok := v.zones[zone]
	if !ok {
		if i, err := net.InterfaceByName(zone); err == nil {
			id = uint32(i.Index)
		} else if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			id = uint32(n)
		}
		if id != 0 {
			v.zones[zone] = id
		}
	}
	return id
}

// bigEndian gives the number whose bytes in memory are p in network order.
func bigEndian(p uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], p)
	return binary.NativeEndian.Uint16(b[:])
}

// segment writes the message that has the kernel split a datagram (udp(7), UDP_SEGMENT) and returns its length.
func (c *control) segment(size int) uint64 {
	h := (*unix.Cmsghdr)(unsafe.Pointer(c))
	h.Level, h.Type = unix.SOL_UDP, unix.UDP_SEGMENT
	h.SetLen(unix.CmsgLen(2))
	binary.NativeEndian.PutUint16(c.controlBytes()[unix.CmsgLen(0):], uint16(size))
	return uint64(unix.CmsgSpace(2))
}

func (c *control) controlBytes() *[64]byte { return (*[64]byte)(unsafe.Pointer(c)) }

// prepareRoom prepares the front of batch to be received into: as many as came of late, and twice that when all were
// used. To prepare more costs a receiver that spins on an empty queue more than the system call does. It prepares no
// more than callBytes, if the datagrams are as large as the last ones.
func (v *vector) prepareRoom(batch []Datagram) {
	n := min(len(batch), len(v.headers), v.hint, max(1, callBytes/max(1, v.mean)))
	for i := range n {
		h, d := &v.headers[i].Hdr, &batch[i]
		v.point(i, d.Buf, d.Tail)
		h.Namelen = unix.SizeofSockaddrInet6
		h.Control, h.Controllen = (*byte)(unsafe.Pointer(&v.control[i])), uint64(unsafe.Sizeof(control{}))
	}
	v.vlen = n
}

// takeBatch writes what came into batch.
func (v *vector) takeBatch(batch []Datagram, lost *atomic.Uint64) {
	sum := 0
	for i := range batch {
		d, h := &batch[i], &v.headers[i]
		sum += int(h.Len)
		d.N = min(int(h.Len), len(d.Buf)+len(d.Tail))
		d.Truncated = h.Hdr.Flags&unix.MSG_TRUNC != 0
		d.Addr = v.addr(i)
		d.Segment = 0
		if h.Hdr.Controllen > 0 {
			v.ancillary(d, v.control[i].controlBytes()[:h.Hdr.Controllen], lost)
		}
	}
	v.mean = sum / max(1, len(batch))
}

func (v *vector) addr(i int) netip.AddrPort {
	if !v.v6 {
		n := (*unix.RawSockaddrInet4)(unsafe.Pointer(&v.names[i]))
		return netip.AddrPortFrom(netip.AddrFrom4(n.Addr), bigEndian(n.Port))
	}
	n := &v.names[i]
	a := netip.AddrFrom16(n.Addr)
	if n.Scope_id != 0 && a.IsLinkLocalUnicast() {
		a = a.WithZone(v.zone(n.Scope_id))
	}
	return netip.AddrPortFrom(a, bigEndian(n.Port))
}

func (v *vector) zone(id uint32) string {
	name, ok := v.zoneNames[id]
	if !ok {
		name = strconv.FormatUint(uint64(id), 10)
		if i, err := net.InterfaceByIndex(int(id)); err == nil {
			name = i.Name
		}
		v.zoneNames[id] = name
	}
	return name
}

// ancillary reads the messages that came with a datagram: the size of its segments and the count of those lost before
// it.
func (v *vector) ancillary(d *Datagram, b []byte, lost *atomic.Uint64) {
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(b)))
		end := int(h.Len)
		if end < unix.CmsgLen(4) || end > len(b) {
			return
		}
		value := binary.NativeEndian.Uint32(b[unix.CmsgLen(0):])
		switch {
		case h.Level == unix.SOL_UDP && h.Type == unix.UDP_GRO:
			if int(value) < d.N {
				d.Segment = int(value)
			}
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL:
			// The kernel counts in 32 bits since the socket was made: the difference outlives its wrapping.
			old := lost.Load()
			lost.Store(old + uint64(value-uint32(old)))
		}
		b = b[min(unix.CmsgSpace(end-unix.CmsgLen(0)), len(b)):]
	}
}

// sendmmsg and recvmmsg make one call on the prepared headers. A datagram alone, in one piece and without ancillary
// data, takes the calls made for that, which have less to copy in and out.
func (v *vector) sendmmsg(fd uintptr) {
	h := &v.headers[0].Hdr
	if v.vlen > 1 || h.Iovlen > 1 || h.Controllen > 0 {
		v.callSystem(unix.SYS_SENDMMSG, fd)
		return
	}
	name, iov := h.Name, &v.iovecs[0][0]
	if h.Namelen == 0 { // sendmmsg takes no name of no length, sendto calls it an error
		name = nil
	}
	_, _, v.errno = unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(iov.Base)), uintptr(iov.Len), flags,
		uintptr(unsafe.Pointer(name)), uintptr(h.Namelen))
	v.done = 0
	if v.errno == 0 {
		v.done = 1
	}
}

func (v *vector) recvmmsg(fd uintptr) {
	if h := &v.headers[0].Hdr; v.vlen == 1 && h.Iovlen == 1 && !v.joins && v.withoutControl < tellEvery {
		v.recvfrom(fd)
		v.withoutControl += v.done
	} else {

		v.callSystem(unix.SYS_RECVMMSG, fd)
		if v.done > 0 {
			v.withoutControl = 0
		}
	}
	if v.errno != 0 || v.done < v.vlen {
		v.hint = max(1, v.done)
	} else {
		v.hint = min(2*v.done, len(v.headers))
	}
}

// recvfrom receives one datagram, but not what the kernel tells beside it: that comes with the next batch.
func (v *vector) recvfrom(fd uintptr) {
	h, iov := &v.headers[0], &v.iovecs[0][0]
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(iov.Base)), uintptr(iov.Len), flags|unix.MSG_TRUNC,
		uintptr(unsafe.Pointer(h.Hdr.Name)), uintptr(unsafe.Pointer(&h.Hdr.Namelen)))
	v.done, v.errno = 0, errno
	if errno != 0 {
		return
	}
	v.done = 1
	h.Len, h.Hdr.Flags, h.Hdr.Controllen = uint32(n), 0, 0
	if uint64(n) > iov.Len {
		h.Len, h.Hdr.Flags = uint32(iov.Len), unix.MSG_TRUNC
	}
}

func (v *vector) callSystem(number, fd uintptr) { v.callWith(number, fd, flags) }

func (v *vector) callWith(number, fd, flags uintptr) {
	n, _, errno := unix.RawSyscall6(number, fd, uintptr(unsafe.Pointer(&v.headers[0])), uintptr(v.vlen), flags, 0, 0)
	if v.done, v.errno = int(n), errno; errno != 0 {
		v.done = 0
	}
}
