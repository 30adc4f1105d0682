// Package match matches the receives and messages of one context by source and tag, with wildcards, in MPI's order
// (MPI 3.5). Every operation takes constant time, however much waits. It is a pure data structure: no locks, no input
// or output; the caller sees to it that one call runs at a time.
//
// A pattern is a source and a tag, either of which may be a wildcard. So a message is accepted by four patterns, of one
// class each: both given, any source, any tag, both any. The index has a queue for each pattern, with the receives that
// were posted under just that pattern, oldest first, or with the messages that the pattern accepts, oldest first. It
// never has both, because a receive and a message it accepts do not wait together. So
//
//   - a receive takes the oldest message of its own queue;
//   - a message goes to the oldest of the receives at the heads of its four queues.
//
// A class is kept from the first operation of that class on, so a program pays for the wildcards that it uses.
package match

// AnySource and AnyTag are the wildcards of a Pattern, with the values of the standard ABI.
const (
	AnySource = -1
	AnyTag    = -2
)

// Pattern says which messages a receive or probe takes: those with this source and tag, each of which may be a
// wildcard. A message's own pattern has neither.
type Pattern struct{ Source, Tag int32 }

// Wild reports whether p has a wildcard.
func (p Pattern) Wild() bool { return p.Source == AnySource || p.Tag == AnyTag }

// class of a pattern, and how many classes there are.
type class uint8

const (
	anySource class = 1 << iota
	anyTag
	classes = 4

	everything = anySource | anyTag // its only queue is Index.all
)

func (p Pattern) classOf() (c class) {
	if p.Source == AnySource {
		c |= anySource
	}
	if p.Tag == AnyTag {
		c |= anyTag
	}
	return c
}

// inClass is the pattern of class c that accepts message p.
func (p Pattern) inClass(c class) Pattern {
	if c&anySource != 0 {
		p.Source = AnySource
	}
	if c&anyTag != 0 {
		p.Tag = AnyTag
	}
	return p
}

// mapKey of a pattern in the map of queues: tags have at most 31 bits.
func (p Pattern) mapKey() uint64 { return uint64(uint32(p.Source+1))<<32 | uint64(uint32(p.Tag+1)) }

// Index holds the receives and the messages of a context that wait. Its zero value is empty. V is what a receive or a
// message is to the caller.
type Index[V any] struct {
	all    queue[V] // the queue of the pattern that accepts everything: all messages, if it holds messages
	posts  list[V]  // all receives, linked by linkAll
	queues queues[V]
	used   uint8  // bit c: class c is kept
	wild   int    // receives with a wildcard
	n      int    // receives and messages
	clock  uint64 // of the youngest entry

	spare *entry[V] // not in use, linked by links[0].next
}

// Len is how many receives and messages wait.
func (x *Index[V]) Len() int { return x.n }

// Wild is how many receives with a wildcard wait.
func (x *Index[V]) Wild() int { return x.wild }

// Post gives the receive v the oldest message that p accepts, which leaves the index, or has v wait and returns nil.
func (x *Index[V]) Post(p Pattern, v *V) (message *V) {
	if m := x.Take(p); m != nil {
		return m
	}
	e := x.enterYoungest(p, v)
	e.posted = true
	q := x.queueOf(p)
	q.pushEntry(e, linkOwn)
	e.in[linkOwn] = &q.list
	x.posts.pushEntry(e, linkAll)
	e.in[linkAll] = &x.posts
	if p.Wild() {
		x.wild++
	}
	return nil
}

// Claim gives message p to the oldest receive that accepts it, which leaves the index; nil if there is none.
func (x *Index[V]) Claim(p Pattern) (receive *V) {
	var oldest *entry[V]
	for c := range class(classes) {
		if q := x.findQueue(p.inClass(c), c); q != nil && q.holdsPosts() && (oldest == nil || q.head.stamp < oldest.stamp) {
			oldest = q.head
		}
	}
	return x.leaveQueues(oldest)
}

// Arrive is Claim for the message v, which waits if no receive accepts it.
func (x *Index[V]) Arrive(p Pattern, v *V) (receive *V) {
	if r := x.Claim(p); r != nil {
		return r
	}
	e := x.enterYoungest(p, v)
	for c := range class(classes) {
		if x.keepsClass(c) {
			x.hangMessage(e, c)
		}
	}
	return nil
}

// hangMessage puts message e into its queue of class c.
func (x *Index[V]) hangMessage(e *entry[V], c class) {
	q := x.queueOf(e.pattern.inClass(c))
	q.pushEntry(e, int(c))
	e.in[c] = &q.list
}

// Oldest gives the oldest message that p accepts and leaves it where it is; nil if there is none.
func (x *Index[V]) Oldest(p Pattern) (message *V) {
	if e := x.oldestMatch(p); e != nil {
		return e.value
	}
	return nil
}

// Take takes the oldest message that p accepts out of the index; nil if there is none.
func (x *Index[V]) Take(p Pattern) (message *V) { return x.leaveQueues(x.oldestMatch(p)) }

func (x *Index[V]) oldestMatch(p Pattern) *entry[V] {
	c := p.classOf()
	x.storeClass(c)
	if q := x.findQueue(p, c); q != nil && !q.holdsPosts() {
		return q.head
	}
	return nil
}

// TakeFunc takes the oldest message of source and tag p, without wildcards, for which f is true; nil if there is none.
func (x *Index[V]) TakeFunc(p Pattern, f func(v *V) bool) (message *V) {
	for e := x.oldestMatch(p); e != nil; e = e.links[0].next {
		if f(e.value) {
			return x.leaveQueues(e)
		}
	}
	return nil
}

// Withdraw takes the receive v, which was posted with p, out of the index, and reports whether it was there. It takes
// time in the number of older receives under p.
func (x *Index[V]) Withdraw(p Pattern, v *V) bool {
	q := x.findQueue(p, p.classOf())
	if q == nil || !q.holdsPosts() {
		return false
	}
	for e := q.head; e != nil; e = e.links[linkOwn].next {
		if e.value == v {
			x.leaveQueues(e)
			return true
		}
	}
	return false
}

// Posts calls f with every receive that waits, in the order in which they were posted.
func (x *Index[V]) Posts(f func(p Pattern, v *V)) {
	for e := x.posts.head; e != nil; e = e.links[linkAll].next {
		f(e.pattern, e.value)
	}
}

// Messages calls f with every message that waits, in the order in which they came.
func (x *Index[V]) Messages(f func(p Pattern, v *V)) {
	if x.all.holdsPosts() {
		return
	}
	for e := x.all.head; e != nil; e = e.links[everything].next {
		f(e.pattern, e.value)
	}
}

// Reset empties the index and gives its memory back.
func (x *Index[V]) Reset() { *x = Index[V]{clock: x.clock} }

// keepsClass tells whether the queues of class c hold the messages that wait. Those of the class of everything always
// do.
func (x *Index[V]) keepsClass(c class) bool { return c == everything || x.used>>c&1 != 0 }

// storeClass stores the messages that wait in the queues of class c.
func (x *Index[V]) storeClass(c class) {
	if x.keepsClass(c) {
		return
	}
	x.used |= 1 << c
	if x.all.holdsPosts() {
		return
	}
	for e := x.all.head; e != nil; e = e.links[everything].next {
		x.hangMessage(e, c)
	}
}

// findQueue gives the queue of p, of class c; nil if it was never used.
func (x *Index[V]) findQueue(p Pattern, c class) *queue[V] {
	switch {
	case c == everything:
		return &x.all
	case !x.keepsClass(c):
		return nil
	}
	return x.queues.findQueue(p.mapKey())
}

// queueOf gives the queue of p.
func (x *Index[V]) queueOf(p Pattern) *queue[V] {
	if p.classOf() == everything {
		return &x.all
	}
	return x.queues.getQueue(p.mapKey())
}

// enterYoungest makes the youngest entry.
func (x *Index[V]) enterYoungest(p Pattern, v *V) *entry[V] {
	e := x.spare
	if e == nil {
		e = new(entry[V])
	} else {
		x.spare, e.links[0].next = e.links[0].next, nil
	}
	x.clock++
	x.n++
	e.value, e.pattern, e.stamp = v, p, x.clock
	return e
}

// leaveQueues takes e out of its queues and gives its value; nil of nil.
func (x *Index[V]) leaveQueues(e *entry[V]) *V {
	if e == nil {
		return nil
	}
	for i, l := range e.in {
		if l != nil {
			l.removeEntry(e, i)
			e.in[i] = nil
		}
	}
	if e.posted && e.pattern.Wild() {
		x.wild--
	}
	x.n--
	v := e.value
	e.value, e.posted = nil, false
	x.spare, e.links[0].next = e, x.spare
	return v
}
