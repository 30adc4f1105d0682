package mmsg

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// native is a socket driven by sendmmsg and recvmmsg. The descriptor is package net's, so that Wait parks in the netpoller
// and Close cannot pull it away under a call.
type native struct {
	conn *net.UDPConn
	raw  syscall.RawConn
	v6   bool
	said Info
	lost atomic.Uint64 // written by the receiver

	tx *vector // of the sender
	rx *vector // of the receiver

	// The functions that RawConn calls; made once, since a closure made for a call would be allocated.
	doSend, doRecv func(fd uintptr)
	poll           func(fd uintptr) bool
	pollSet        []unix.PollFd // of the waiter

	waiting atomic.Bool // set by the waiter before it looks at woken for the last time
	woken   atomic.Bool // set by Wake before it looks at waiting: one of the two sees the other
}

func openNative(addr netip.AddrPort, o Options) (backend, error) {
	conn, err := net.ListenUDP(network(addr.Addr()), net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	s := &native{
		conn: conn, raw: raw, v6: !addr.Addr().Is4(),
		tx: newVector(o.Batch, !addr.Addr().Is4()), rx: newVector(o.Batch, !addr.Addr().Is4()), pollSet: make([]unix.PollFd, 1),
	}
	s.said = Info{Addr: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Batch: o.Batch}
	s.doSend, s.doRecv, s.poll = s.tx.sendmmsg, s.rx.recvmmsg, s.readable
	if err := s.configure(o); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
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

// discover sets what happens to a datagram that is larger than the path's MTU: an error, or fragments.
func discover(fd int, v6, fragment bool) error {
	level, option, value := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO
	if v6 {
		level, option, value = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_DO
	}
	if fragment {
		value = unix.IP_PMTUDISC_DONT // the same number as IPV6_PMTUDISC_DONT
	}
	return unix.SetsockoptInt(fd, level, option, value)
}

func (s *native) send(batch []Datagram) (n int, err error) {
	for n < len(batch) {
		part, bad := s.tx.fill(batch[n:])
		if part == 0 {
			return n, bad
		}
		if err := s.raw.Control(s.doSend); err != nil {
			return n, err
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
	case unix.EIO: // udp(7): the device cannot do the checksums of segments
		if d.Segment > 0 {
			return fmt.Errorf("%w: %v", ErrNoGSO, d.Addr)
		}
	}
	return fmt.Errorf("mmsg: send to %v: %w", d.Addr, errno)
}

func (s *native) recv(batch []Datagram) (n int, err error) {
	if len(batch) == 0 {
		return 0, nil
	}
	s.rx.room(batch)
	if err := s.raw.Control(s.doRecv); err != nil {
		return 0, err
	}
	switch s.rx.errno {
	case 0:
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	default:
		return 0, fmt.Errorf("mmsg: receive: %w", s.rx.errno)
	}
	s.rx.take(batch[:s.rx.done], &s.lost)
	return s.rx.done, nil
}

// wait parks in RawConn.Read, which holds the descriptor's read lock. Recv uses Control, which does not take it.
func (s *native) wait(deadline time.Time) Reason {
	if s.conn.SetReadDeadline(deadline) != nil {
		return Closed
	}
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	if s.woken.Swap(false) {
		return Woken
	}
	err := s.raw.Read(s.poll)
	switch {
	case s.woken.Swap(false):
		return Woken
	case err == nil:
		return Ready
	case errors.Is(err, net.ErrClosed):
		return Closed
	case deadline.IsZero() || time.Now().Before(deadline):
		return Woken // by a Wake whose flag the Wait before took, and whose deadline came late
	}
	return Timeout
}

// readable asks the kernel, since the netpoller only tells of what comes after it was asked.
func (s *native) readable(fd uintptr) bool {
	s.pollSet[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	n, err := unix.Poll(s.pollSet, 0)
	return n > 0 || err != nil && err != unix.EINTR
}

// past is a deadline that has passed.
var past = time.Unix(1, 0)

func (s *native) wake() {
	s.woken.Store(true)
	if s.waiting.Load() {
		_ = s.conn.SetReadDeadline(past) // fails only if closed, which ends Wait as well
	}
}

func (s *native) close() error {
	if err := s.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (s *native) info() Info      { return s.said }
func (s *native) dropped() uint64 { return s.lost.Load() }
