package mmsg

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// native is a socket driven by sendmmsg and recvmmsg. Its descriptor belongs to a file, so that Close cannot pull it
// away under a call. It does not belong to the netpoller, which each datagram would wake while somebody polls. The
// waiter parks on an epoll instance, which the socket joins only meanwhile: else each datagram would cost its sender a
// look at that.
type native struct {
	sock   *os.File
	raw    syscall.RawConn // of sock
	bell   *os.File        // the epoll instance
	parked syscall.RawConn // of bell
	v6     bool
	said   Info
	lost   atomic.Uint64 // written by the receiver

	tx *vector // of the sender
	rx *vector // of the receiver

	errs    *vector     // of the receiver, for what comes back; nil: nobody asks
	trouble atomic.Bool // something has come back and was not asked for; the kernel tells that once

	// The functions that RawConn calls; made once, since a closure made for a call would be allocated.
	doSend, doRecv  func(fd uintptr)
	doReturned      func(fd uintptr)
	poll            func(fd uintptr) bool
	doArm, doModify func(fd uintptr)
	// Of the waiter.
	pollSet []unix.PollFd
	event   unix.EpollEvent // what to arm for
	change  int             // what to do with the socket there
	armed   int             // descriptor of the socket
	refused bool            // the last change was refused

	ended   atomic.Bool // set before the files are closed
	waiting atomic.Bool // set by the waiter before it looks at woken for the last time
	woken   atomic.Bool // set by Wake before it looks at waiting: one of the two sees the other
}

func openNative(addr netip.AddrPort, o Options) (Socket, error) {
	v6 := !addr.Addr().Is4()
	s := &native{v6: v6, tx: newVector(o.Batch, v6), rx: newVector(o.Batch, v6), pollSet: make([]unix.PollFd, 1)}
	s.doSend, s.doRecv, s.poll, s.doArm, s.doModify = s.tx.sendmmsg, s.rx.recvmmsg, s.readable, s.arm, s.modify
	if err := s.bind(addr, o.Only); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.said.Batch = o.Batch
	s.rx.joins = o.GRO
	if err := s.configure(o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// bind makes both descriptors. That of the socket may block, which keeps it out of the netpoller; no call on it does.
func (s *native) bind(addr netip.AddrPort, at []netip.Addr) error {
	family := unix.AF_INET
	if s.v6 {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("mmsg: socket: %w", err)
	}
	s.sock = os.NewFile(uintptr(fd), "udp")
	if s.raw, err = s.sock.SyscallConn(); err != nil {
		return err
	}
	if s.v6 {
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1); err != nil {
			return fmt.Errorf("mmsg: socket: %w", err)
		}
	}
	only(fd, at) // before anything can come
	if s.said.Addr, err = s.rx.bind(uintptr(fd), addr); err != nil {
		return err
	}
	return s.makeBell()
}

func (s *native) makeBell() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return fmt.Errorf("mmsg: epoll: %w", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		return errors.Join(err, unix.Close(fd))
	}
	s.bell = os.NewFile(uintptr(fd), "udp wait")
	if s.parked, err = s.bell.SyscallConn(); err != nil {
		return err
	}
	return s.bell.SetReadDeadline(time.Time{}) // an error where it cannot be waited for
}

// configure asks for the options. Only what correctness needs is an error when it is refused; the rest shows in Info.
func (s *native) configure(o Options) (err error) {
	e := s.raw.Control(func(f uintptr) {
		fd := int(f)
		s.said.RecvBuffer = buffer(fd, unix.SO_RCVBUFFORCE, unix.SO_RCVBUF, o.RecvBuffer)
		s.said.SendBuffer = buffer(fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, o.SendBuffer)
		_, noGSO := unix.GetsockoptInt(fd, unix.SOL_UDP, unix.UDP_SEGMENT)
		s.said.GSO = noGSO == nil
		s.said.GRO = o.GRO && unix.SetsockoptInt(fd, unix.SOL_UDP, unix.UDP_GRO, 1) == nil
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1)
		if us := int(o.BusyPoll / time.Microsecond); us > 0 && unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BUSY_POLL, us) == nil {
			s.said.BusyPoll = time.Duration(us) * time.Microsecond
		}
		if o.Refusals {
			s.heed(fd, o.Batch)
		}
		err = discover(fd, s.v6, o.Fragment)
	})
	return errors.Join(e, err)
}

// buffer sizes a queue, beyond the system's limit if this process may, and returns what was granted.
func buffer(fd, force, plain, bytes int) int {
	if bytes > 0 && unix.SetsockoptInt(fd, unix.SOL_SOCKET, force, bytes) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, plain, bytes)
	}
	granted, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, plain)
	if err != nil {
		return 0
	}
	return granted
}

// discover sets what happens to a datagram that is larger than the path's MTU: it is lost, or split. An error is only
// what is larger than the MTU of this machine's interface. What ICMP says of the path is not heeded (PROBE): anybody
// can send that, with little proof, and would make all large datagrams to a peer an error for ten minutes.
func discover(fd int, v6, fragment bool) error {
	level, option, value := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE
	if v6 {
		level, option, value = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE
	}
	if fragment {
		value = unix.IP_PMTUDISC_DONT // the same number as IPV6_PMTUDISC_DONT
	}
	return os.NewSyscallError("mmsg: setsockopt(MTU_DISCOVER)", unix.SetsockoptInt(fd, level, option, value))
}

func (s *native) Connect(peer netip.AddrPort) (ok bool) {
	if s.said.Refusals && s.raw.Control(func(fd uintptr) { ok = s.tx.connectSocket(fd, peer) }) == nil && ok {
		s.said.Peer = peer
	}
	return ok
}

func (s *native) Send(batch []Datagram) (n int, err error) {
	for n < len(batch) {
		part, bad := s.tx.fillBatch(batch[n:])
		if part == 0 {
			return n, bad
		}
		if err := s.raw.Control(s.doSend); err != nil {
			return n, s.closedError(err)
		}
		for again := 0; s.tx.errno != 0 && s.ofAnother(s.tx.errno) && again < mostReturns; again++ {
			if err := s.raw.Control(s.doSend); err != nil {
				return n, s.closedError(err)
			}
		}
		if s.tx.errno != 0 {
			return n, sendError(s.tx.errno, &batch[n])
		}
		n += s.tx.done
		if bad != nil && s.tx.done == part {
			return n, bad
		}
	}
	return n, nil
}

// sendError turns what the kernel says of the first datagram of a call into an error, or nil if the queue is full.
func sendError(errno unix.Errno, d *Datagram) error {
	switch errno {
	case unix.EAGAIN, unix.ENOBUFS, unix.EINTR:
		return nil
	case unix.EMSGSIZE:
		return fmt.Errorf("%w: %d bytes in segments of %d to %v", ErrTooBig, len(d.Buf)+len(d.Tail), d.Segment, d.Addr)
	case unix.EINVAL: // what kernels before 6.14 say of segments that are too large; CheckSize has excluded the rest
		if d.Segment > 0 {
			return fmt.Errorf("%w: segments of %d to %v", ErrTooBig, d.Segment, d.Addr)
		}
	case unix.EIO: // udp(7): the device cannot do the checksums of segments
		if d.Segment > 0 {
			return fmt.Errorf("%w: %v", ErrNoGSO, d.Addr)
		}
	}
	return fmt.Errorf("mmsg: send to %v: %w", d.Addr, errno)
}

func (s *native) Recv(batch []Datagram) (n int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	if s.trouble.Load() {
		return 0, ErrRefused
	}
	s.rx.prepareRoom(batch)
	if err := s.raw.Control(s.doRecv); err != nil {
		return 0, s.closedError(err)
	}
	switch s.rx.errno {
	case 0:
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	default:
		if s.errs != nil {
			s.trouble.Store(true)
			return 0, ErrRefused
		}
		return 0, fmt.Errorf("mmsg: receive: %w", s.rx.errno)
	}
	s.rx.takeBatch(batch[:s.rx.done], &s.lost)
	return s.rx.done, nil
}

// Wait parks on the epoll instance, with the socket armed in it.
func (s *native) Wait(deadline time.Time) Reason {
	if s.bell.SetReadDeadline(deadline) != nil {
		return Closed
	}
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	if s.woken.Swap(false) {
		return Woken
	}
	s.event.Events, s.change = unix.EPOLLIN, unix.EPOLL_CTL_ADD
	if s.raw.Control(s.doArm) != nil {
		return Closed
	}
	if s.refused { // no memory in the kernel, say: the caller has to look
		return Ready
	}
	err := s.parked.Read(s.poll)
	s.change = unix.EPOLL_CTL_DEL
	_ = s.raw.Control(s.doArm) // fails only if closed
	switch {
	case s.woken.Swap(false):
		return Woken
	case err == nil:
		return Ready
	case s.ended.Load():
		return Closed
	case deadline.IsZero() || time.Now().Before(deadline):
		return Woken // by a Wake whose flag the Wait before took, and whose deadline came late
	}
	return Timeout
}

// arm makes the epoll instance look out for event on the socket fd.
func (s *native) arm(fd uintptr) {
	s.armed = int(fd)
	_ = s.parked.Control(s.doModify)
}

func (s *native) modify(bell uintptr) {
	s.refused = unix.EpollCtl(int(bell), s.change, s.armed, &s.event) != nil
}

// readable asks the kernel, since the netpoller only tells of what comes after it was asked.
func (s *native) readable(fd uintptr) bool {
	s.pollSet[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	n, err := unix.Poll(s.pollSet, 0)
	return n > 0 || err != nil && err != unix.EINTR
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

func (s *native) Wake() {
	s.woken.Store(true)
	if s.waiting.Load() {
		_ = s.bell.SetReadDeadline(past) // fails only if closed, which ends Wait as well
	}
}

func (s *native) Close() error {
	s.ended.Store(true)
	var errs []error
	for _, f := range []*os.File{s.sock, s.bell} {
		if f == nil {
			continue
		}
		if err := f.Close(); !errors.Is(err, os.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// closedError is err of a call on sock, as package net would say it.
func (s *native) closedError(err error) error {
	if s.ended.Load() {
		return net.ErrClosed
	}
	return err
}

func (s *native) Info() Info      { return s.said }
func (s *native) Dropped() uint64 { return s.lost.Load() }
