// Package faulty puts a bad network between a conduit and its socket: what is sent is lost, delayed, doubled, damaged
// or overtaken as badnet.Faults say, each destination with dice of its own. Nothing is done to what is received: each
// direction of a pair suffers at its sender.
package faulty

import (
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/transport/badnet"
	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// Counter is what a socket with faults can be asked besides, by all at any time: what it did to the datagrams sent so
// far, all destinations together, and how many that were let through late the socket then refused.
type Counter interface {
	Counts() (done badnet.Counts, refused uint64)
}

// New puts faults into what is sent by w, which is the result's from then on; without faults it is w itself. The
// error matches badnet.ErrFaults.
//
// Send copies each datagram and splits segments. What is due at once goes to w in the same call, so Send tells of a
// datagram what w would; one that comes late leaves in the first Send, Recv or Wait after its time, which a Wait
// under way keeps; if w refuses it then, it is lost. In steady state nothing is allocated.
func New(w mmsg.Socket, f Faults) (mmsg.Socket, error) {
	if _, err := badnet.New(f.Faults); err != nil {
		return nil, err
	}
	if f.isNone() {
		return w, nil
	}
	n := &wire{
		w: w, faults: f, began: time.Now(), ways: map[netip.AddrPort]*way{}, counted: map[int]int{}, one: make([]mmsg.Datagram, 1),
	}
	n.clock = func() time.Duration { return time.Since(n.began) }
	n.next.Store(never)
	return n, nil
}

// never is later than all times.
const never = math.MaxInt64

// wire is w with faults. Times are counted from began.
type wire struct {
	w      mmsg.Socket
	faults Faults
	began  time.Time
	clock  func() time.Duration // since began; another in tests

	next   atomic.Int64 // when something is due; written under mu, read by Recv to leave mu alone
	woken  atomic.Bool  // Wake was called, and no Wait has told
	closed atomic.Bool

	mu      sync.Mutex // guards the rest, and w.Send
	ways    map[netip.AddrPort]*way
	list    []*way      // the same, in order
	counted map[int]int // addresses by rank
	stuck   packet      // taken from its way, but w's queue was full
	refused uint64
	parked  bool // Wait sleeps
	until   time.Duration
	whole   []byte // a datagram whose parts lie apart
	one     []mmsg.Datagram
}

// way is what leads to one destination.
type way struct {
	to     netip.AddrPort
	impair *badnet.Impair
}

// packet is one that is leaving; way is nil if there is none.
type packet struct {
	way  *way
	data []byte
}

func (n *wire) Send(batch []mmsg.Datagram) (sent int, err error) {
	if n.closed.Load() {
		return 0, net.ErrClosed
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.clock()
	n.releaseDue(now)
	for sent < len(batch) && n.stuck.way == nil {
		if err = n.sendOne(now, &batch[sent]); err != nil {
			break
		}
		sent++
	}
	n.plan()
	return sent, err
}

// sendOne pushes a datagram and passes on what is due on its way. mu is held.
func (n *wire) sendOne(now time.Duration, d *mmsg.Datagram) error {
	if err := d.CheckSize(); err != nil {
		return err
	}
	w := n.way(d.Addr)
	first := w.impair.Pushed()
	data := d.Buf
	if len(d.Tail) > 0 {
		n.whole = append(append(n.whole[:0], d.Buf...), d.Tail...)
		data = n.whole
	}
	push(w.impair, now, data, d.Segment)
	return n.drainWay(now, w, first)
}

// push enters a datagram, or its segments.
func push(i *badnet.Impair, now time.Duration, data []byte, segment int) {
	for segment > 0 && len(data) > segment {
		i.Push(now, data[:segment])
		data = data[segment:]
	}
	i.Push(now, data)
}

// way finds the one to an address, or makes it. mu is held.
func (n *wire) way(to netip.AddrPort) *way {
	if w := n.ways[to]; w != nil {
		return w
	}
	rank := len(n.ways)
	if n.faults.Who != nil {
		rank = n.faults.Who(to)
	}
	i, err := badnet.New(n.faults.towards(rank, n.counted[rank]))
	if err != nil { // not reached: New has checked
		i, _ = badnet.New(badnet.Faults{})
	}
	w := &way{to, i}
	n.ways[to] = w
	n.list = append(n.list, w)
	n.counted[rank]++
	return w
}

// drainWay passes on what is due on a way, until w's queue is full. The error is what w says of a packet with number
// first or above, of which the rest that is due is thrown away: its sender will try again. mu is held.
func (n *wire) drainWay(now time.Duration, w *way, first uint64) (err error) {
	for n.stuck.way == nil {
		p, ok := w.impair.Take(now)
		if !ok {
			return err
		}
		if err != nil && p.Number >= first {
			w.impair.Free(p.Data)
			continue
		}
		e := n.passPacket(packet{w, p.Data})
		if e != nil && p.Number >= first {
			err = e
		} else if e != nil {
			n.refused++
		}
	}
	return err
}

// passPacket gives w one packet; if its queue is full the packet is stuck. mu is held.
func (n *wire) passPacket(p packet) error {
	n.one[0] = mmsg.Datagram{Buf: p.data, Addr: p.way.to}
	sent, err := n.w.Send(n.one)
	n.one[0] = mmsg.Datagram{}
	if sent == 0 && err == nil {
		n.stuck = p
		return nil
	}
	n.stuck = packet{}
	p.way.impair.Free(p.data)
	return err
}

// releaseDue passes on all that is due; plan must follow. mu is held.
func (n *wire) releaseDue(now time.Duration) {
	late := now >= time.Duration(n.next.Load())
	if p := n.stuck; p.way != nil {
		late = true
		if n.passPacket(p) != nil {
			n.refused++
		}
	}
	if !late {
		return
	}
	for _, w := range n.list {
		_ = n.drainWay(now, w, never) // none is that late: errors are counted
	}
}

// retry is when a full queue is tried again.
const retry = time.Millisecond

// plan notes when something is due next, and has a Wait that would sleep longer look again. mu is held.
func (n *wire) plan() {
	next := time.Duration(never)
	for _, w := range n.list {
		if due, ok := w.impair.Next(); ok {
			next = min(next, due)
		}
	}
	if n.stuck.way != nil {
		next = n.clock() + retry
	}
	n.next.Store(int64(next))
	if n.parked && next < n.until {
		n.w.Wake()
	}
}

func (n *wire) Recv(batch []mmsg.Datagram) (int, error) {
	n.catchUp()
	return n.w.Recv(batch)
}

func (n *wire) Refused(batch []mmsg.Datagram) int { return n.w.Refused(batch) }

// catchUp passes on what is due, unless a Send is doing so now.
func (n *wire) catchUp() {
	if next := n.next.Load(); next != never && int64(n.clock()) >= next && n.mu.TryLock() {
		n.releaseDue(n.clock())
		n.plan()
		n.mu.Unlock()
	}
}

// Wait sleeps in w, with breaks for what is due.
func (n *wire) Wait(deadline time.Time) mmsg.Reason {
	for {
		r := n.w.Wait(n.parkUntil(deadline))
		n.mu.Lock()
		n.parked = false
		n.releaseDue(n.clock())
		n.plan()
		n.mu.Unlock()
		switch {
		case r == mmsg.Ready || r == mmsg.Closed:
			return r
		case n.woken.Swap(false):
			return mmsg.Woken
		case r == mmsg.Timeout && !deadline.IsZero() && n.clock() >= deadline.Sub(n.began):
			return r
		}
	}
}

// parkUntil says that Wait goes to sleep, and until when.
func (n *wire) parkUntil(deadline time.Time) time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.releaseDue(n.clock())
	n.plan()
	n.parked, n.until = true, never
	if !deadline.IsZero() {
		n.until = deadline.Sub(n.began)
	}
	if next := time.Duration(n.next.Load()); next < n.until {
		n.until = next
		return n.began.Add(next)
	}
	return deadline
}

func (n *wire) Wake() {
	n.woken.Store(true)
	n.w.Wake()
}

func (n *wire) Close() error {
	n.closed.Store(true)
	return n.w.Close()
}

func (n *wire) Info() mmsg.Info { return n.w.Info() }
func (n *wire) Dropped() uint64 { return n.w.Dropped() }

// Counts is of Counter.
func (n *wire) Counts() (done badnet.Counts, refused uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.list {
		done.Add(w.impair.Counts())
	}
	return done, n.refused
}
