package mmsg

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostReturns is how often a datagram is offered again that the kernel has not taken because another one came back.
const mostReturns = 8

// heed asks the kernel to keep what comes back. It then also fails the next call on the socket, whatever that is for.
func (s *native) heed(fd, batch int) {
	level, option := unix.IPPROTO_IP, unix.IP_RECVERR
	if s.v6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_RECVERR
	}
	if unix.SetsockoptInt(fd, level, option, 1) != nil {
		return
	}
	s.said.Refusals = true
	s.errs = newVector(batch, s.v6)
	s.doReturned = func(fd uintptr) { s.errs.callWith(unix.SYS_RECVMMSG, fd, flags|unix.MSG_ERRQUEUE) }
}

// ofAnother tells whether the error of a send may be that of a datagram that has come back, and notes that. The kernel
// tells it once, so the next try shows whether it was. EMSGSIZE may be what a router says of a datagram before.
func (s *native) ofAnother(errno unix.Errno) bool {
	if s.errs == nil {
		return false
	}
	switch errno {
	case unix.ECONNREFUSED, unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EHOSTDOWN, unix.ENONET, unix.ENOPROTOOPT, unix.EOPNOTSUPP,
		unix.EPROTO, unix.EACCES, unix.EMSGSIZE:
		s.trouble.Store(true)
		return true
	}
	return false
}

func (s *native) Refused(batch []Datagram) int {
	if s.errs == nil || len(batch) == 0 {
		return 0
	}
	s.trouble.Store(false) // before the look: a send that finds more says so again
	v := s.errs
	for {
		v.hint = len(v.headers)
		v.prepareRoom(batch)
		if s.raw.Control(s.doReturned) != nil || v.errno != 0 {
			return 0
		}
		if n := v.returned(batch[:v.done]); n > 0 {
			s.trouble.Store(true)
			return n
		}
	}
}

// returned keeps of what has come back the datagrams that found no receiver.
func (v *vector) returned(batch []Datagram) (n int) {
	for i := range batch {
		h := &v.headers[i]
		if !v.refusal(v.control[i].controlBytes()[:h.Hdr.Controllen]) {
			continue
		}
		d := &batch[n]
		if n < i { // the buffers stay whose they are
			copy(d.Buf, batch[i].Buf[:min(int(h.Len), len(batch[i].Buf))])
		}
		d.N, d.Addr, d.Segment = min(int(h.Len), len(d.Buf)), v.addr(i), 0
		d.Truncated = h.Hdr.Flags&unix.MSG_TRUNC != 0
		n++
	}
	return n
}

// refusal finds in ancillary data that a machine has no socket for a datagram (ip(7), ipv6(7): sock_extended_err).
func (v *vector) refusal(b []byte) bool {
	level, kind, origin := int32(unix.SOL_IP), int32(unix.IP_RECVERR), uint8(unix.SO_EE_ORIGIN_ICMP)
	if v.v6 {
		level, kind, origin = unix.SOL_IPV6, unix.IPV6_RECVERR, unix.SO_EE_ORIGIN_ICMP6
	}
	for len(b) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(b)))
		end := int(h.Len)
		if end < unix.SizeofCmsghdr || end > len(b) {
			return false
		}
		if h.Level == level && h.Type == kind && end >= unix.CmsgLen(int(unsafe.Sizeof(unix.SockExtendedErr{}))) {
			e := (*unix.SockExtendedErr)(unsafe.Pointer(unsafe.SliceData(b[unix.CmsgLen(0):])))
			return e.Origin == origin && unix.Errno(e.Errno) == unix.ECONNREFUSED
		}
		b = b[min(unix.CmsgSpace(end-unix.CmsgLen(0)), len(b)):]
	}
	return false
}
