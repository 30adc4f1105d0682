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
	in, out *queue
	failed  atomic.Uint64 // datagrams the system refused to send
	closed  atomic.Bool
	ready   chan struct{} // one place: something came, since Wait looked
	woken   chan struct{} // one place
	ended   chan struct{} // closed by close
	workers sync.WaitGroup
	timer   *time.Timer // of the waiter
}

// pumpSlots is how many datagrams each side holds; the room is taken as they need it. A largest Segment batch fits.
const pumpSlots = 256

func openPump(addr netip.AddrPort, o Options) (backend, error) {
	conn, err := net.ListenUDP(network(addr.Addr()), net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	p := &pump{
		conn: conn, in: newQueue(pumpSlots), out: newQueue(pumpSlots), timer: time.NewTimer(time.Hour),
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

// reader moves from the socket to the queue. While that is full, the kernel's own fills up and then drops.
func (p *pump) reader() {
	buf := make([]byte, 1<<16)
	for {
		n, addr, err := p.conn.ReadFromUDPAddrPort(buf)
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // some systems report here what became of a datagram that was sent
			time.Sleep(time.Millisecond)
		case !p.in.put(buf[:n], addr):
			return
		default:
			note(p.ready)
		}
	}
}

func (p *pump) writer() {
	var buf []byte
	for {
		data, addr, ok := p.out.get(buf)
		if !ok {
			return
		}
		buf = data
		if _, err := p.conn.WriteToUDPAddrPort(data, addr); err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			p.failed.Add(1)
		}
	}
}

func (p *pump) send(batch []Datagram) (n int, err error) {
	for ; n < len(batch); n++ {
		d := &batch[n]
		if p.closed.Load() {
			return n, net.ErrClosed
		}
		if err := d.CheckSize(); err != nil {
			return n, err
		}
		if a := d.Addr.Addr(); !a.IsValid() || a.Is4() != p.said.Addr.Addr().Is4() || a.Is4In6() {
			return n, fmt.Errorf("%w: %v", ErrFamily, d.Addr)
		}
		if !p.out.tryPut(d) {
			return n, nil
		}
	}
	return n, nil
}

func (p *pump) recv(batch []Datagram) (int, error) {
	if p.closed.Load() {
		return 0, net.ErrClosed
	}
	return p.in.tryGet(batch), nil
}

func (p *pump) refused([]Datagram) int { return 0 } // package net does not tell

func (p *pump) wait(deadline time.Time) Reason {
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
		if p.in.some() {
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

func (p *pump) wake() { note(p.woken) }

// close returns when both goroutines have ended. What was handed over and not yet sent is lost, as it may be on its
// way.
func (p *pump) close() error {
	if p.closed.Swap(true) {
		return nil
	}
	close(p.ended)
	err := p.conn.Close()
	p.in.close()
	p.out.close()
	p.workers.Wait()
	return err
}

func (p *pump) info() Info      { return p.said }
func (p *pump) dropped() uint64 { return p.failed.Load() }
