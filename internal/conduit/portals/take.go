package portals

import (
	"math/bits"
	"math/rand/v2"

	"github.com/golci/golci/internal/arch"
)

// taker is the receiving end of a queue. All of it belongs to the holder of the poll lock.
type taker struct {
	q       *queue
	open    []buffer // turns that are not served to the end, oldest first; at least one where one is linked
	next    uint64   // the turn after them
	touched int      // how many of open have been served in part
	spares  int
	covered [][]uint64 // by buffer: bits of units served behind a hole
	shuffle uint64     // of a thousand looks pass a record over
	dice    rand.PCG
	serve   func(src int, k uint32, rec []byte)
	may     func() bool // whether a record may be served now; nil for always

	misses       int // polls since the last look at how far senders have reserved
	pass, passes int // see linger

	events, stalls uint64
}

// buffer is a turn of a buffer that is being served.
type buffer struct {
	turn    uint64
	base    uint32 // its first unit
	low     uint32 // everything before it has been served
	high    uint32 // low, or where the search behind the first hole has come to
	end     uint32 // where it ends, 0 while not known
	index   uint32
	touched bool
	covered []uint64
}

func newTaker(q *queue, g *geometry) *taker {
	t := &taker{q: q, next: 1, spares: g.spares, shuffle: g.shuffle, covered: make([][]uint64, q.buffers)}
	t.open = make([]buffer, 0, q.buffers)
	words := ceil(int(q.units), 64)
	bitmaps := make([]uint64, words*q.buffers)
	for i := range t.covered {
		t.covered[i] = bitmaps[i*words : (i+1)*words]
	}
	t.openNext()
	return t
}

// openNext begins with the next turn on the list, if there is one.
func (t *taker) openNext() bool {
	if t.next > t.q.linked.Load() {
		return false
	}
	b := t.q.bufferOf(t.next)
	t.open = append(t.open, buffer{turn: t.next, base: b * t.q.units, index: b, covered: t.covered[b]})
	t.next++
	return true
}

// mark is the mark of the record published at unit u of o, or 0.
func (t *taker) mark(o *buffer, u uint32) uint64 {
	m := t.q.marks[o.base+u].Load()
	if m>>tagShift != o.turn&tagMask {
		return 0
	}
	return m & fillMask
}

// ready tells whether a record waits.
func (t *taker) ready() bool { return t.waits(func(uint64) bool { return true }) }

// holds tells whether a record of src waits.
func (t *taker) holds(src int) bool {
	return t.waits(func(m uint64) bool { return m&padBit == 0 && int(m>>srcShift&srcMask) == src })
}

// waits tells whether a record or pad waits whose mark is one that is wanted.
func (t *taker) waits(wanted func(m uint64) bool) bool {
	for i := 0; i < len(t.open); i++ {
		o := &t.open[i]
		top, full := t.top(o)
		for u, m := t.find(o, o.low, top); m != 0; u, m = t.find(o, u+uint32(m&unitsMask), top) {
			if wanted(m) {
				return true
			}
		}
		if !full {
			return false
		}
		if i == len(t.open)-1 {
			t.openNext()
		}
	}
	return false
}

// top is how far senders have reserved, and whether the buffer is full.
func (t *taker) top(o *buffer) (top uint32, full bool) {
	if o.end != 0 {
		return o.end, true
	}
	fill := t.q.fills[o.index].Load() & fillMask
	return max(o.high, uint32(min(fill, uint64(t.q.units)))), fill > uint64(t.q.last)
}

// find is the next record from unit u on and below top that is published and not served, with its mark, or 0.
func (t *taker) find(o *buffer, u, top uint32) (uint32, uint64) {
	for ; u < top; u++ {
		if o.high > o.low {
			if u = uncovered(o.covered, u); u >= top {
				break
			}
		}
		if m := t.mark(o, u); m != 0 {
			return u, m
		}
	}
	return top, 0
}

// uncovered is the first clear bit at or after u; behind the bitmap if there is none.
func uncovered(covered []uint64, u uint32) uint32 {
	w := int(u >> 6)
	if w >= len(covered) {
		return u
	}
	for free := ^covered[w] >> (u & 63) << (u & 63); ; free = ^covered[w] {
		if free != 0 {
			return uint32(w<<6 + bits.TrailingZeros64(free))
		}
		if w++; w == len(covered) {
			return uint32(w << 6)
		}
	}
}

// cover sets k bits from u on.
func cover(covered []uint64, u, k uint32) {
	for ; k > 0 && u&63 != 0; k-- {
		covered[u>>6] |= 1 << (u & 63)
		u++
	}
	for ; k >= 64; k -= 64 {
		covered[u>>6] = ^uint64(0)
		u += 64
	}
	for ; k > 0; k-- {
		covered[u>>6] |= 1 << (u & 63)
		u++
	}
}

// take serves up to limit records and returns how many.
func (t *taker) take(limit int) (n int) {
	for i := 0; i < len(t.open) && n < limit; {
		o := &t.open[i]
		got, full := t.drain(o, limit-n)
		n += got
		if o.end != 0 && o.low == o.end {
			t.retire(i)
			continue
		}
		if !full {
			break
		}
		if i++; i == len(t.open) {
			t.openNext()
		}
	}
	t.events += uint64(n)
	return n
}

// drain serves up to limit records of one buffer. full tells to go on with the next one.
func (t *taker) drain(o *buffer, limit int) (n int, full bool) {
	for o.low == o.high && n < limit {
		m := t.mark(o, o.low)
		if m == 0 {
			if n > 0 && t.linger(o) {
				continue
			}
			break
		}
		if t.passOver() {
			break
		}
		if !t.mayServe(o) {
			return n, false
		}
		n += t.handle(o, o.low, m)
		o.low += uint32(m & unitsMask)
		o.high = o.low
		if o.end != 0 {
			return n, true
		}
	}
	if n == limit {
		return n, false
	}
	if o.low == o.high && t.rarely() {
		t.q.first(o.base + o.low).Load()
		return n, false
	}
	top, full := t.top(o)
	if o.low == top {
		return n, full
	}
	got, stop := t.search(o, top, limit-n)
	return n + got, full && !stop
}

// missesBeforeLook is how many polls that find nothing go by before one that looks for holes.
const missesBeforeLook = 15

// rarely tells not to look behind a mark that is not there.
//
// A receiver that looks at the fill word takes its line from the senders, who add to it for each record. It matters only
// behind a hole, and holes are rare and mostly filled at once, so a poll that finds nothing seldom looks.
func (t *taker) rarely() bool {
	if t.shuffle > 0 || t.misses == missesBeforeLook {
		t.misses = 0
		return false
	}
	t.misses++
	return true
}

// lingerPauses is how long a receiver in a flood stands back, in pauses; lingerRarely is how many batches go by without
// standing back while it is in vain.
const (
	lingerPauses = 5
	lingerRarely = 255
)

// linger waits a little for a record and tells whether it came. A receiver that keeps up with a flood looks at each mark
// just when the sender wants its line; one that stands back finds several at once. Where nothing comes it is tried ever less
// often.
func (t *taker) linger(o *buffer) bool {
	if t.pass > 0 {
		t.pass--
		return false
	}
	for range lingerPauses {
		arch.Pause()
	}
	if t.mark(o, o.low) != 0 {
		t.passes = 0
		return true
	}
	t.passes = min(2*t.passes+1, lingerRarely)
	t.pass = t.passes
	return false
}

// search serves what is published behind a hole. stop tells that nothing may be served for now.
func (t *taker) search(o *buffer, top uint32, limit int) (n int, stop bool) {
	for u := o.low; n < limit && !stop; {
		var m uint64
		if u, m = t.find(o, u, top); m == 0 {
			break
		}
		k := uint32(m & unitsMask)
		if t.passOver() {
			u += k
			continue
		}
		if stop = !t.mayServe(o); stop {
			break
		}
		n += t.handle(o, u, m)
		cover(o.covered, u, k)
		u += k
		// Before the handler of the next record looks: find goes by the bitmap from now on.
		o.high = max(o.high, u)
	}
	if o.high > o.low {
		o.low = min(uncovered(o.covered, o.low), o.high)
	}
	if o.low == o.high {
		clear(o.covered)
	}
	return n, stop
}

// passOver tells to leave a record for later, so that others overtake it.
func (t *taker) passOver() bool { return t.shuffle > 0 && t.dice.Uint64()%1000 < t.shuffle }

// mayServe is the gate. Credits of a buffer come back while it still is in use, so no more buffers are begun than there
// are spares; and a request is begun only when its answer has what it needs.
func (t *taker) mayServe(o *buffer) bool {
	if t.may != nil && !t.may() {
		return false
	}
	if o.touched {
		return true
	}
	if t.touched >= t.spares {
		t.stalls++
		return false
	}
	t.touched++
	o.touched = true
	return true
}

// handle serves the record at unit u and returns how many records that were: none for a pad.
func (t *taker) handle(o *buffer, u uint32, m uint64) int {
	k := uint32(m & unitsMask)
	if u <= t.q.last && u+k > t.q.last {
		o.end = u + k
	}
	if m&padBit != 0 {
		t.q.padded.Add(-int64(k))
		return 0
	}
	t.serve(int(m>>srcShift&srcMask), k, t.q.space(place{at: o.base + u}, int(k)*t.q.unit))
	return 1
}

// retire puts a buffer that was served to its end back on the list.
func (t *taker) retire(i int) {
	b, turn := t.open[i].index, t.open[i].turn
	if t.open[i].touched {
		t.touched--
	}
	t.open = append(t.open[:i], t.open[i+1:]...)
	clear(t.covered[b])
	t.renew(b)
	t.q.link(b)
	// The turn is full. Where senders found no next one, they wait at it still.
	if t.q.cur.Load() == turn {
		t.q.advance(turn)
	}
	if i == len(t.open) {
		t.openNext()
	}
}

// renew makes sure that no mark in the buffer is so old that its tag comes round again: every 2^20 turns all are cleared.
func (t *taker) renew(b uint32) {
	const age = 20
	before := t.q.fills[b].Load() >> tagShift
	if after := (t.q.linked.Load() + 1) & tagMask; before>>age == after>>age {
		return
	}
	marks := t.q.marks[b*t.q.units:][:t.q.units]
	for i := range marks {
		marks[i].Store(0)
	}
}
