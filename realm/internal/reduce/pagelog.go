package reduce

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// logLen is how many reductions the log of a page has. To make a page of 8-byte values takes about as long as so many
// reductions into logs.
const logLen = 64

// slabLen is how many logs are made at a time, at most.
const slabLen = 32

// pageLog is what a page has before it is made: its reductions, as they came. So points that lie far apart cost some
// bytes each, and not a page. A log that is full becomes a page. In mode Atomic it stays beside the page, which has the
// reductions that came later, until somebody asks for values.
type pageLog[R any] struct {
	n    uint32         // may be more than logLen in mode Atomic, where it is changed atomically
	at   [logLen]uint16 // numbers of points within the page
	vals [logLen]R
}

// logs is those of the pages of a Fold.
type logs[R any] struct {
	of   []*pageLog[R] // by page; nil: not needed yet. In mode Atomic read and set atomically
	slab []pageLog[R]  // not used yet; in mode Exclusive
	made int           // how many the last slab had
}

// log is that of page i; it is made if there is none.
func (l *logs[R]) log(i uint64) *pageLog[R] {
	p := &l.of[i]
	if *p == nil {
		if len(l.slab) == 0 {
			l.made = min(max(1, 2*l.made), slabLen)
			l.slab = make([]pageLog[R], l.made)
		}
		*p, l.slab = &l.slab[0], l.slab[1:]
	}
	return *p
}

// emptyLogs empties all logs.
func (l *logs[R]) emptyLogs() {
	for _, p := range l.of {
		if p != nil {
			p.n = 0
		}
	}
}

// logged puts v into the log of the page of point n, which has not been made. If the log is full, it makes the page.
func (f *Fold[L, R]) logged(n int64, v R) {
	l := f.logs.log(uint64(n) / pageLen)
	if l.n == logLen {
		f.page(n)
		f.reduce(n, v)
		return
	}
	l.at[l.n], l.vals[l.n] = uint16(uint64(n)%pageLen), v
	l.n++
	*f.markWord(n) |= 1 << (n % 64)
}

// noted puts v into the log of the page of point n, in mode Atomic, while others do the same. False: the log is full.
func (f *Fold[L, R]) noted(n int64, v R) bool {
	l := once(&f.logs.of[uint64(n)/pageLen], func() *pageLog[R] { return new(pageLog[R]) })
	k := (*atomic.Uint32)(unsafe.Pointer(&l.n)).Add(1) - 1 // whoever gets k alone writes there
	if k >= logLen {
		return false
	}
	l.at[k], l.vals[k] = uint16(uint64(n)%pageLen), v
	return true
}

// len is how many reductions the log has.
func (l *pageLog[R]) len() int { return int(min(l.n, logLen)) }

// beginPage gives p, whose values mean nothing, those of the log, which is empty then.
func (l *pageLog[R]) beginPage(p *page[R], op func(a, b R) R, identity R) {
	for _, i := range l.at[:l.len()] {
		p[i%pageLen] = identity
	}
	l.joinPage(p, op)
}

// joinPage folds the log into p, and empties it.
func (l *pageLog[R]) joinPage(p *page[R], op func(a, b R) R) {
	for k, i := range l.at[:l.len()] {
		p[i%pageLen] = op(p[i%pageLen], l.vals[k])
	}
	l.n = 0
}

// value is what the log has of point i of its page, from the identity on.
func (l *pageLog[R]) value(i uint16, op func(a, b R) R, v R) R {
	for k, at := range l.at[:l.len()] {
		if at == i {
			v = op(v, l.vals[k])
		}
	}
	return v
}

// digest is the values of a log, in the order of points.
type digest[R any] struct {
	page   int64 // of which it is, from 1 on; 0: of none
	before [pageLen / 64]uint8
	vals   [logLen]R
}

// takeLog makes d that of l. words are the marks of its page, and have the points of l.
func (d *digest[R]) takeLog(l *pageLog[R], words []uint64, op func(a, b R) R, identity R) {
	sum := 0
	for k, w := range words[:len(d.before)] {
		d.before[k] = uint8(sum)
		sum += bits.OnesCount64(w)
	}
	for k := range d.vals[:sum] {
		d.vals[k] = identity
	}
	for k, i := range l.at[:l.len()] {
		p := &d.vals[d.rank(words, uint64(i))]
		*p = op(*p, l.vals[k])
	}
}

// rank is how many points of the page come before point i, which is one of them.
func (d *digest[R]) rank(words []uint64, i uint64) int {
	k := i / 64 % uint64(len(d.before))
	return int(d.before[k]) + bits.OnesCount64(words[k]&(1<<(i%64)-1))
}
