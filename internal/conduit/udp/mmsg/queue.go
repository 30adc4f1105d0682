package mmsg

import (
	"net/netip"
	"sync"
)

// queue is a ring of copied datagrams between a goroutine that may block and one that may not. Slots keep their memory.
type queue struct {
	mu     sync.Mutex
	moved  sync.Cond // signalled when a datagram enters or leaves, and by close
	slots  []slot
	first  uint64 // next to leave; this and the rest under mu
	last   uint64 // next to enter
	closed bool
}

type slot struct {
	data []byte
	addr netip.AddrPort
}

func newQueue(slots int) *queue {
	q := &queue{slots: make([]slot, slots)}
	q.moved.L = &q.mu
	return q
}

// tryPut enters copies of all of the parts of d, or none if there is no room. It does not block.
func (q *queue) tryPut(d *Datagram) bool {
	parts := 1
	data, segment := d.Buf, d.Segment
	if segment > 0 && len(data) > segment {
		parts = (len(data) + segment - 1) / segment
	} else {
		segment = len(data)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || int(q.last-q.first)+parts > len(q.slots) {
		return false
	}
	for range parts {
		n := min(segment, len(data))
		q.enter(data[:n], d.Tail, d.Addr)
		data = data[n:]
	}
	q.moved.Signal()
	return true
}

// put waits for room; false if the queue is closed.
func (q *queue) put(data []byte, addr netip.AddrPort) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for int(q.last-q.first) == len(q.slots) && !q.closed {
		q.moved.Wait()
	}
	if q.closed {
		return false
	}
	q.enter(data, nil, addr)
	return true
}

func (q *queue) enter(data, tail []byte, addr netip.AddrPort) {
	s := &q.slots[q.last%uint64(len(q.slots))]
	s.data, s.addr = append(append(s.data[:0], data...), tail...), addr
	q.last++
}

// tryGet copies datagrams into batch and returns how many. It does not block.
func (q *queue) tryGet(batch []Datagram) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ; n < len(batch) && q.first < q.last; n++ {
		s, d := &q.slots[q.first%uint64(len(q.slots))], &batch[n]
		d.Addr, d.Segment = s.addr, 0
		if d.N = copy(d.Buf, s.data); d.N < len(s.data) {
			d.N += copy(d.Tail, s.data[d.N:])
		}
		d.Truncated = d.N < len(s.data)
		q.first++
	}
	if n > 0 {
		q.moved.Signal()
	}
	return n
}

// get waits for a datagram and copies it into data, whose memory it may replace; false if the queue is closed.
func (q *queue) get(data []byte) (_ []byte, addr netip.AddrPort, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.first == q.last && !q.closed {
		q.moved.Wait()
	}
	if q.first == q.last {
		return data, addr, false
	}
	s := &q.slots[q.first%uint64(len(q.slots))]
	data, addr = append(data[:0], s.data...), s.addr
	q.first++
	return data, addr, true
}

func (q *queue) some() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.first < q.last
}

// close ends put at once, and get when the queue is empty.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.moved.Broadcast()
}
