// Package mmsg sends and receives batches of UDP datagrams: many with one system call where the kernel can (Linux:
// sendmmsg, recvmmsg, segmentation and coalescing by the kernel), one by one through package net elsewhere. It
// allocates nothing in steady state. A call that finds nothing or no room returns at once. A goroutine that has nothing
// to do parks in Go's netpoller, not in a system call.
//
// For each Socket one goroutine may be in Send, one in Recv or Refused and one in Wait at a time; these three may be
// at once. Wake, Close, Info and Dropped may be called by all at any time.
package mmsg

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Datagram is one element of a batch.
type Datagram struct {
	// Buf is what is sent, or the room for what is received. A Socket may keep Bufs of its last batches from the
	// collector, but does not touch them after the call.
	Buf []byte
	// Tail, if not empty, goes on where Buf ends, without a copy on Linux: a header in Buf, the payload where it
	// lies. Only without Segment when sent; what is received may be segments that go on in it.
	Tail []byte
	// N is how many bytes were received, in Buf and then in Tail. Send ignores it.
	N int
	// Addr is where it goes, or came from: of the socket's own family.
	Addr netip.AddrPort
	// Segment, if not 0, says that Buf holds several datagrams of this many bytes each, of which the last may be
	// shorter. At most MaxSegments of them can be sent at once, MaxPayload bytes in all.
	Segment int
	// Truncated is set by Recv where Buf and Tail were too short; the rest is lost.
	Truncated bool
}

const (
	// MaxSegments is how many segments one Datagram may have when sent (the limit of kernels before 6.9).
	MaxSegments = 64
	// MaxPayload is the largest UDP payload over IPv4; over IPv6 it is 20 bytes more, which is not used.
	MaxPayload = 65507
	// SafePayload fits every path of IPv6 (RFC 8200, section 5), and in practice of IPv4.
	SafePayload = 1280 - 48

	defaultBatch = 64
	maxBatch     = 1024
)

// Options of a Socket. The zero value is right for most.
type Options struct {
	// Batch is the most datagrams that one system call takes; 0: 64.
	Batch int
	// RecvBuffer and SendBuffer are the bytes wanted for the kernel's queues; 0 leaves them. What was granted is in
	// Info.
	RecvBuffer, SendBuffer int
	// GRO lets the kernel join datagrams of one sender that follow each other, if it can: then Segment is set, and
	// Bufs should have 64 KiB.
	GRO bool
	// BusyPoll is how long the kernel polls the device in place of waiting for its interrupt; 0: not. It needs a right.
	BusyPoll time.Duration
	// Fragment lets IP split what is larger than the path's MTU, where it would be ErrTooBig.
	Fragment bool
	// Refusals has Recv and Refused tell of datagrams that the machine they went to has no receiver for, if the system
	// can.
	Refusals bool
	// Only makes a socket that is bound to all addresses of a family take what was sent to these alone, if the system can.
	Only []netip.Addr
	// Portable forces the way of other systems, one system call for each datagram and two goroutines to hide them.
	Portable bool
}

// Info tells what a Socket is.
type Info struct {
	Addr                   netip.AddrPort // bound
	Peer                   netip.AddrPort // connected to; zero: to none
	Batch                  int            // datagrams in one system call
	RecvBuffer, SendBuffer int            // bytes the kernel granted, by its own count; 0: not known
	GSO, GRO               bool           // segments are split, joined, by the kernel
	Refusals               bool           // Refused tells
	BusyPoll               time.Duration  // granted
	Portable               bool
}

// Reason says why Wait came back.
type Reason uint8

const (
	Ready   Reason = iota // something is there to be received
	Woken                 // Wake was called
	Timeout               // the deadline has passed
	Closed                // the Socket is closed
)

// String names the reason.
func (r Reason) String() string {
	if int(r) < 4 {
		return [...]string{"ready", "woken", "timeout", "closed"}[r]
	}
	return "unknown"
}

var (
	// ErrTooBig: the datagram, or its segment, is larger than the path or the protocol takes.
	ErrTooBig = errors.New("mmsg: datagram too big")
	// ErrNoGSO: the kernel or the device cannot split segments; send them one by one.
	ErrNoGSO = errors.New("mmsg: segments cannot be sent at once here")
	// errFamily: IPv4 address on an IPv6 socket, the other way round, none, or one whose zone is no interface's.
	errFamily = errors.New("mmsg: address not of this socket's kind")
	// ErrTail: Tail and Segment in one datagram to be sent.
	ErrTail = errors.New("mmsg: segments with a tail")
	// ErrRefused: the network has returned datagrams. Refused tells which.
	ErrRefused = errors.New("mmsg: datagrams came back")
	// errOptions: an option or the address of Open is not sensible.
	errOptions = errors.New("mmsg: bad options")
)

// Socket is a bound UDP socket.
type Socket interface {
	// Send hands datagrams to the kernel in order, and returns how many it took. It never blocks. Fewer than all with
	// no error means that the queue is full: try again later. With an error, batch[n] is the one that could not be
	// sent, and those after it were not tried: ErrTooBig, ErrTail, ErrNoGSO, errFamily, net.ErrClosed, or the
	// system's (no route, say).
	Send(batch []Datagram) (n int, err error)
	// Recv fills batch from the front with what has come: N, Addr, Segment and Truncated of the first n. It never
	// blocks; with n of 0 there was nothing. It makes one system call, so there may be more than it returned. The
	// error is net.ErrClosed, ErrRefused, which Refused answers, or the system's.
	Recv(batch []Datagram) (n int, err error)
	// Refused fills batch from the front with datagrams that this socket has sent and that have come back. The
	// machine at Addr says that no socket is bound there (ICMP, RFC 1122 section 3.2.2.1; ICMPv6, RFC 4443 section
	// 3.1). Buf gets the beginning of the datagram, N bytes of it, as the machine quotes it. Anybody on the way can
	// say so, and others who guess the ports: compare the bytes. The caller of Recv calls it, when that returns
	// ErrRefused. It returns 0 where there is nothing, or the system does not tell. It never blocks. If there is
	// more, the next Recv says so.
	Refused(batch []Datagram) int
	// Wait parks the goroutine until something has come, Wake is called, the deadline has passed (zero: none) or the
	// socket is closed. It may return Woken for a Wake that an earlier Wait has answered already.
	Wait(deadline time.Time) Reason
	// Wake ends the Wait under way, or the next. It does not block and is cheap where nobody waits.
	Wake()
	// Close ends the Wait under way and all later calls. A second Close does nothing.
	Close() error
	// Info tells what the socket is and what the system granted.
	Info() Info
	// Dropped is how many datagrams were lost at this socket, as far as it is known: on Linux those that the receiver's
	// queue had no room for, which the kernel tells with the next datagram; elsewhere those that the system refused to
	// send.
	Dropped() uint64
}

// Connector is a Socket for which the system may find the way to one peer once, and not for each datagram.
type Connector interface {
	Socket
	// Connect names the peer. The system drops what comes from elsewhere from then on. Datagrams to others may still
	// be sent. False: the socket stays as it is, since the system refuses, or does not tell of refusals (Info): a
	// connected socket fails calls for them. It does not block, and is called before all other calls.
	Connect(peer netip.AddrPort) bool
}

// Open binds a socket to addr; port 0 takes a free one, and Info tells which. Where the system refuses the calls that
// take batches, as filters of system calls do, the socket is as with Options.Portable. The errors are errOptions and
// the system's.
func Open(addr netip.AddrPort, o Options) (Socket, error) {
	if !addr.Addr().IsValid() || addr.Addr().Is4In6() {
		return nil, fmt.Errorf("%w: address %v", errOptions, addr)
	}
	if o.Batch < 0 || o.Batch > maxBatch || o.RecvBuffer < 0 || o.SendBuffer < 0 || o.BusyPoll < 0 {
		return nil, fmt.Errorf("%w: %+v", errOptions, o)
	}
	if o.Batch == 0 {
		o.Batch = defaultBatch
	}
	if o.Portable {
		return openPump(addr, o)
	}
	return openBest(addr, o)
}

func network(addr netip.Addr) string {
	if addr.Is4() {
		return "udp4"
	}
	return "udp6"
}

// CheckSize refuses what no path takes, as Send does: the error is ErrTooBig or ErrTail.
func (d *Datagram) CheckSize() error {
	switch size := len(d.Buf) + len(d.Tail); {
	case size > MaxPayload, d.Segment < 0, d.Segment > MaxPayload:
		return fmt.Errorf("%w: %d bytes in segments of %d to %v", ErrTooBig, size, d.Segment, d.Addr)
	case d.Segment > 0 && size > d.Segment*MaxSegments:
		return fmt.Errorf("%w: %d bytes make more than %d segments of %d", ErrTooBig, size, MaxSegments, d.Segment)
	case d.Segment > 0 && len(d.Tail) > 0:
		return fmt.Errorf("%w: %d and %d bytes in segments of %d to %v", ErrTail, len(d.Buf), len(d.Tail), d.Segment, d.Addr)
	}
	return nil
}
