package mmsg

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// pump is a socket of package net with a goroutine on each side, since package net cannot be asked not to block. What a
// datagram costs more is two copies and two switches.
type pump struct {
	conn    *net.UDPConn
	said    Info
	in, out chan packet   // received; to be sent
	spare   chan []byte   // buffers for both
	failed  atomic.Uint64 // datagrams the system refused to send
	closed  atomic.Bool
	ready   chan struct{} // one place: something came, since Wait looked
	woken   chan struct{} // one place
	ended   chan struct{} // closed by close
	workers sync.WaitGroup
	timer   *time.Timer // of the waiter
}

// packet is a copy of a datagram.
type packet struct {
	data []byte
	addr netip.AddrPort
}

// pumpSlots is how many datagrams each side holds; the room is taken as they need it. A largest Segment batch fits.
const pumpSlots = 256

func openPump(addr netip.AddrPort, o Options) (Socket, error) {
	conn, err := net.ListenUDP(network(addr.Addr()), net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	p := &pump{
		conn: conn, in: make(chan packet, pumpSlots), out: make(chan packet, pumpSlots),
		spare: make(chan []byte, 2*pumpSlots), timer: time.NewTimer(time.Hour),
		ready: make(chan struct{}, 1), woken: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.timer.Stop()
	p.said = Info{Addr: conn.LocalAddr().(*net.UDPAddr).AddrPort(), Batch: 1, Portable: true}
	if o.RecvBuffer > 0 && conn.SetReadBuffer(o.RecvBuffer) == nil {
		p.said.RecvBuffer = o.RecvBuffer
	}
	if o.SendBuffer > 0 && conn.SetWriteBuffer(o.SendBuffer) == nil {
		p.said.SendBuffer = o.SendBuffer
	}
	p.workers.Go(p.reader)
	p.workers.Go(p.writer)
	return p, nil
}

func note(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// roomBuffer gives a buffer, which may have memory already.
func (p *pump) roomBuffer() []byte {
	select {
	case b := <-p.spare:
		return b[:0]
	default:
		return nil
	}
}

func (p *pump) giveBack(b []byte) {
	select {
	case p.spare <- b:
	default:
	}
}

// reader moves from the socket to in. While that is full, the kernel's own queue fills up and then drops.
func (p *pump) reader() {
	buf := make([]byte, 1<<16)
	for {
		n, addr, err := p.conn.ReadFromUDPAddrPort(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // some systems report here what became of a datagram that was sent
			time.Sleep(time.Millisecond)
			continue
		}
		select {
		case p.in <- packet{append(p.roomBuffer(), buf[:n]...), addr}:
			note(p.ready)
		case <-p.ended:
			return
		}
	}
}

func (p *pump) writer() {
	for {
		select {
		case x := <-p.out:
			if _, err := p.conn.WriteToUDPAddrPort(x.data, x.addr); err != nil && !errors.Is(err, net.ErrClosed) {
				p.failed.Add(1)
			}
			p.giveBack(x.data)
		case <-p.ended:
			return
		}
	}
}

func (p *pump) Send(batch []Datagram) (n int, err error) {
	for ; n < len(batch); n++ {
		d := &batch[n]
		if p.closed.Load() {
			return n, net.ErrClosed
		}
		if err := d.CheckSize(); err != nil {
			return n, err
		}
		if a := d.Addr.Addr(); !a.IsValid() || a.Is4() != p.said.Addr.Addr().Is4() || a.Is4In6() {
			return n, fmt.Errorf("%w: %v", errFamily, d.Addr)
		}
		if !p.enterParts(d) {
			return n, nil
		}
	}
	return n, nil
}

// enterParts queues all of the parts of d, or none if there is no room. Nobody else adds to out, so it does not block.
func (p *pump) enterParts(d *Datagram) bool {
	data, parts := d.Buf, 1
	if d.Segment > 0 {
		parts += len(data) / d.Segment
	}
	if len(p.out)+parts > cap(p.out) {
		return false
	}
	for d.Segment > 0 && len(data) > d.Segment {
		p.out <- packet{append(p.roomBuffer(), data[:d.Segment]...), d.Addr}
		data = data[d.Segment:]
	}
	p.out <- packet{append(append(p.roomBuffer(), data...), d.Tail...), d.Addr}
	return true
}

func (p *pump) Recv(batch []Datagram) (n int, err error) {
	if p.closed.Load() {
		return 0, net.ErrClosed
	}
	for ; n < len(batch); n++ {
		select {
		case x := <-p.in:
			batch[n].holdPacket(x)
			p.giveBack(x.data)
		default:
			return n, nil
		}
	}
	return n, nil
}

// holdPacket copies what was received.
func (d *Datagram) holdPacket(x packet) {
	d.Addr, d.Segment, d.N = x.addr, 0, copy(d.Buf, x.data)
	d.N += copy(d.Tail, x.data[d.N:])
	d.Truncated = d.N < len(x.data)
}

func (p *pump) Refused([]Datagram) int { return 0 } // package net does not tell

func (p *pump) Wait(deadline time.Time) Reason {
	var late <-chan time.Time
	if !deadline.IsZero() {
		p.timer.Reset(time.Until(deadline))
		defer p.timer.Stop()
		late = p.timer.C
	}
	for {
		select {
		case <-p.ended:
			return Closed
		case <-p.woken:
			return Woken
		default:
		}
		if len(p.in) > 0 {
			return Ready
		}
		select {
		case <-p.ready: // may tell of what has been received already: look again
		case <-p.woken:
			return Woken
		case <-p.ended:
			return Closed
		case <-late:
			return Timeout
		}
	}
}

func (p *pump) Wake() { note(p.woken) }

// Close returns when both goroutines have ended. What was handed over and not yet sent is lost, as it may be on its
// way.
func (p *pump) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	close(p.ended)
	err := p.conn.Close()
	p.workers.Wait()
	return err
}

func (p *pump) Info() Info      { return p.said }
func (p *pump) Dropped() uint64 { return p.failed.Load() }
