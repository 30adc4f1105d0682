package match

// entry is one receive or message that waits.
type entry[V any] struct {
	value   *V
	stamp   uint64 // counts the entries up
	pattern Pattern
	posted  bool // a receive
	// links and in are, of a message, those of its queue in each class; of a receive, those named below.
	links [classes]link[V]
	in    [classes]*list[V] // nil: in none
}

// The links of a receive.
const (
	linkOwn = 0 // in the queue of its pattern
	linkAll = 1 // in Index.posts
)

type link[V any] struct{ prev, next *entry[V] }

// list is oldest first. All of its entries use the same of their links for it.
type list[V any] struct{ head, tail *entry[V] }

func (l *list[V]) pushEntry(e *entry[V], i int) {
	e.links[i] = link[V]{prev: l.tail}
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.links[i].next = e
	}
	l.tail = e
}

func (l *list[V]) removeEntry(e *entry[V], i int) {
	k := e.links[i]
	if k.prev == nil {
		l.head = k.next
	} else {
		k.prev.links[i].next = k.next
	}
	if k.next == nil {
		l.tail = k.prev
	} else {
		k.next.links[i].prev = k.prev
	}
	e.links[i] = link[V]{}
}

// queue is what waits under one pattern: receives or messages.
type queue[V any] struct {
	list[V]
	key   uint64
	chain *queue[V] // the next one in the same slot of the map, or of the spare ones
}

func (q *queue[V]) holdsPosts() bool { return q.head != nil && q.head.posted }

// queues finds queues by the keys of their patterns. A queue that has become empty stays, since the next message often
// has the pattern of an earlier one, until the map is full; so it is never much larger than what waited in it at once.
type queues[V any] struct {
	slots []*queue[V] // a power of two of them, each a chain
	n     int         // queues in the chains
	shift uint8       // 64 - log2 of the slots
	spare *queue[V]
}

const leastSlots = 64

// slotOf of a key: the upper bits of a product with a large odd number.
func (m *queues[V]) slotOf(key uint64) **queue[V] { return &m.slots[key*0x9E3779B97F4A7C15>>m.shift] }

// findQueue gives the queue of key, nil if there is none.
func (m *queues[V]) findQueue(key uint64) *queue[V] {
	if m.n == 0 {
		return nil
	}
	q := *m.slotOf(key)
	for q != nil && q.key != key {
		q = q.chain
	}
	return q
}

// getQueue gives the queue of key, which it makes if there is none.
func (m *queues[V]) getQueue(key uint64) *queue[V] {
	if q := m.findQueue(key); q != nil {
		return q
	}
	if m.n == len(m.slots) {
		m.rebuild()
	}
	q := m.spare
	if q == nil {
		q = new(queue[V])
	} else {
		m.spare = q.chain
	}
	q.key = key
	m.linkQueue(q)
	return q
}

func (m *queues[V]) linkQueue(q *queue[V]) {
	s := m.slotOf(q.key)
	q.chain = *s
	*s = q
	m.n++
}

// rebuild drops the empty queues, and makes the map twice as large as the others need.
func (m *queues[V]) rebuild() {
	old := m.slots
	live := 0
	for _, q := range old {
		for ; q != nil; q = q.chain {
			if q.head != nil {
				live++
			}
		}
	}
	size, log := leastSlots, uint8(6)
	for size < 2*live {
		size, log = 2*size, log+1
	}
	m.slots, m.n, m.shift = make([]*queue[V], size), 0, 64-log
	for _, q := range old {
		for q != nil {
			next := q.chain
			if q.head != nil {
				m.linkQueue(q)
			} else {
				q.chain, m.spare = m.spare, q
			}
			q = next
		}
	}
}
