package reduce

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/realm/internal/space"
)

// maxFold bounds the points of a Fold, which has a pointer for each page from the beginning on.
const maxFold = 1 << 36

// pageLen is how many values a page has, markLen how many bits a sheet of marks.
const (
	pageLen = 1 << 10
	markLen = 1 << 16
)

// page is the values of points that follow each other. Those without a mark mean nothing, but in mode Atomic, where
// they are the identity: there the first of two that reduce at once cannot be told from the other.
type page[R any] [pageLen]R

// marks is a bit for each point that has been reduced into.
type marks [markLen / 64]uint64

// Fold is an instance that holds one value for each point: the fold of all reductions into it. Its memory, and the time
// to make, apply and reset it, follow the points that are reduced into: a page of 1024 points begins as a log of the
// first 64 reductions into it. The bits that tell points apart are made when they are first needed, too.
//
// In mode Exclusive one goroutine at a time uses it. In mode Atomic several may reduce at once; all else is for one
// alone.
type Fold[L, R any] struct {
	op    *Op[L, R]
	pts   points
	mode  Mode
	pages []*page[R] // nil: has a log, or nothing yet. In mode Atomic read and set atomically
	logs  logs[R]
	marks []*marks // nil: not needed yet. In mode Atomic read and set atomically
	at    [batch]int64
}

// NewFold makes an instance for reductions by op into points of s. Errors: that of s; errOp if op has no Fold or no
// Identity; errType if mode is Atomic and values have neither 4 nor 8 bytes.
func NewFold[L, R any](op *Op[L, R], s space.Space, mode Mode) (*Fold[L, R], error) {
	if s.Err() != nil {
		return nil, s.Err()
	}
	if op == nil {
		return nil, fmt.Errorf("%w: there is none", errOp)
	}
	if op.Fold == nil || op.Identity == nil || op.Apply == nil {
		return nil, fmt.Errorf("%w: a fold instance needs Apply, Fold and Identity of %q", errOp, op.Name)
	}
	if err := checkAtomic("values", unsafe.Sizeof(*op.Identity), mode); err != nil {
		return nil, err
	}
	f := &Fold[L, R]{op: op, pts: pointsOf(s), mode: mode}
	if f.pts.count > maxFold {
		return nil, fmt.Errorf("%w: %v; a fold instance has %d at most", errIndex, s, int64(maxFold))
	}
	f.pages = make([]*page[R], (f.pts.count+pageLen-1)/pageLen)
	f.logs.of = make([]*pageLog[R], len(f.pages))
	f.marks = make([]*marks, (f.pts.count+markLen-1)/markLen)
	return f, nil
}

// page is that of point n; it is made if there is none.
func (f *Fold[L, R]) page(n int64) *page[R] {
	p := &f.pages[uint64(n)/pageLen]
	if f.mode == Atomic {
		return once(p, f.newPage)
	}
	if *p == nil {
		*p = new(page[R])
		if l := f.logs.of[uint64(n)/pageLen]; l != nil {
			l.beginPage(*p, f.op.Fold, *f.op.Identity)
		}
	}
	return *p
}

// newPage is a page for mode Atomic.
func (f *Fold[L, R]) newPage() *page[R] {
	p := new(page[R])
	p[0] = *f.op.Identity
	for n := 1; n < pageLen; n *= 2 {
		copy(p[n:], p[:n])
	}
	return p
}

// markWord has the mark of point n as bit n%64.
func (f *Fold[L, R]) markWord(n int64) *uint64 {
	m := &f.marks[uint64(n)/markLen]
	if f.mode == Atomic {
		return &once(m, func() *marks { return new(marks) })[uint64(n)%markLen/64]
	}
	if *m == nil {
		*m = new(marks)
	}
	return &(*m)[uint64(n)%markLen/64]
}

// Reduce folds v into the value of the point with coordinate i, in a space of one dimension. errIndex: there is none.
func (f *Fold[L, R]) Reduce(i int64, v R) error {
	n := i - f.pts.lo
	if !f.pts.line || uint64(n) >= uint64(f.pts.count) {
		var err error
		if n, err = f.pts.numberOf(i); err != nil {
			return err
		}
	}
	f.reduce(n, v)
	return nil
}

// ReduceAt is Reduce in a space of any dimension.
func (f *Fold[L, R]) ReduceAt(x space.Point, v R) error {
	n, err := f.pts.pointNumber(x)
	if err == nil {
		f.reduce(n, v)
	}
	return err
}

// reduce folds v into the value of point n.
func (f *Fold[L, R]) reduce(n int64, v R) {
	switch {
	case f.mode == Atomic:
		f.reduceAtomic(n, v)
		return
	case f.pages[uint64(n)/pageLen] == nil:
		f.logged(n, v)
		return
	}
	p, w, bit := &f.page(n)[uint64(n)%pageLen], f.markWord(n), uint64(1)<<(n%64)
	if *w&bit == 0 {
		*w |= bit
		*p = v
		return
	}
	*p = f.op.Fold(*p, v)
}

// reduceAtomic is reduce in mode Atomic. A page takes what its log has no room for.
func (f *Fold[L, R]) reduceAtomic(n int64, v R) {
	setBit(f.markWord(n), 1<<(n%64))
	p := (*atomic.Pointer[page[R]])(unsafe.Pointer(&f.pages[uint64(n)/pageLen])).Load()
	if p == nil {
		if f.noted(n, v) {
			return
		}
		p = f.page(n)
	}
	update(unsafe.Pointer(&p[uint64(n)%pageLen]), f.op.Fold, v)
}

// ReduceAll is Reduce of each v[k] into the point with coordinate at[k]. errIndex: one does not exist, and those before
// it have been reduced; or the lists differ in length.
func (f *Fold[L, R]) ReduceAll(at []int64, v []R) error {
	if len(at) != len(v) {
		return differ(len(at), len(v))
	}
	if f.mode == Atomic {
		for k, i := range at {
			if err := f.Reduce(i, v[k]); err != nil {
				return err
			}
		}
		return nil
	}
	loops := f.op.loops()
	for len(at) > 0 {
		n, err := f.pts.numbers(f.at[:], at[:min(len(at), batch)])
		paged := f.mark(f.at[:n])
		loops.foldAt(f.pages, f.at[:paged], v[:paged])
		for k := paged; k < n; k++ {
			f.reduce(f.at[k], v[k])
		}
		if err != nil {
			return err
		}
		at, v = at[n:], v[n:]
	}
	return nil
}

// mark makes the values of points that are about to be reduced into, up to the first that has no page. It returns how
// many they are.
func (f *Fold[L, R]) mark(at []int64) int {
	identity := *f.op.Identity
	for k, n := range at {
		p := f.pages[uint64(n)/pageLen]
		if p == nil {
			return k
		}
		m := f.marks[uint64(n)/markLen]
		if m == nil {
			f.markWord(n)
			m = f.marks[uint64(n)/markLen]
		}
		if w, bit := &m[uint64(n)%markLen/64], uint64(1)<<(n%64); *w&bit == 0 {
			*w |= bit
			p[uint64(n)%pageLen] = identity
		}
	}
	return len(at)
}

// ReduceRow is Reduce of each v[k] into the point with coordinate i+k. errIndex: one does not exist, and nothing has
// been reduced.
func (f *Fold[L, R]) ReduceRow(i int64, v []R) error {
	if len(v) == 0 {
		return nil
	}
	first, err := f.pts.rowNumber(i, len(v))
	if err != nil {
		return err
	}
	for len(v) > 0 {
		n := min(len(v), int(64-first%64))
		if len(v) > logLen {
			f.page(first)
		}
		f.reduceWord(first, v[:n])
		first, v = first+int64(n), v[n:]
	}
	return nil
}

// reduceWord folds v into the points from number first on, whose marks are in one word.
func (f *Fold[L, R]) reduceWord(first int64, v []R) {
	if p := f.pages[uint64(first)/pageLen]; f.mode == Exclusive && p != nil {
		w, all := f.markWord(first), ^uint64(0)>>(64-len(v))<<(first%64)
		dst := p[uint64(first)%pageLen:][:len(v)]
		switch *w & all {
		case all:
			f.op.loops().foldRow(dst, v)
			return
		case 0:
			*w |= all
			copy(dst, v)
			return
		}
	}
	for k, x := range v {
		f.reduce(first+int64(k), x)
	}
}

// Value is what has been reduced into the point with coordinate i; false if nothing has.
func (f *Fold[L, R]) Value(i int64) (v R, ok bool) {
	n, err := f.pts.numberOf(i)
	if err != nil || f.marks[n/markLen] == nil || *f.markWord(n)>>(n%64)&1 == 0 {
		return v, false
	}
	l := f.logs.of[n/pageLen]
	if p := f.pages[n/pageLen]; p != nil {
		if l != nil {
			l.joinPage(p, f.op.Fold)
		}
		return p[n%pageLen], true
	}
	return l.value(uint16(n%pageLen), f.op.Fold, *f.op.Identity), true
}

// isTouched is how many points have been reduced into.
func (f *Fold[L, R]) isTouched() (n int64) {
	for _, m := range f.marks {
		if m != nil {
			for _, w := range m {
				n += int64(bits.OnesCount64(w))
			}
		}
	}
	return n
}

// Reset makes f as NewFold does, and keeps its memory.
func (f *Fold[L, R]) Reset() {
	s := f.sweep()
	for f.mode == Atomic {
		_, v := s.nextRow(pageLen)
		if len(v) == 0 {
			break
		}
		for k := range v {
			v[k] = *f.op.Identity
		}
	}
	f.logs.emptyLogs()
	for _, m := range f.marks {
		if m != nil {
			*m = marks{}
		}
	}
}

// Apply applies f to t. Error: errType if the operator or the space of t is another one.
func (f *Fold[L, R]) Apply(t *Target[L, R]) error {
	if err := t.fitsPoints(f.op, &f.pts); err != nil {
		return err
	}
	s := f.sweep() // not in the loop, which would copy it each time
	for {
		first, v := s.nextRow(pageLen)
		switch {
		case len(v) == 0:
			t.flushRows()
			return nil
		case len(v) >= rowMin:
			t.applyPoints(first, v)
		default:
			t.putRow(first, v)
		}
	}
}

// rowMin is the length from which on points are applied as a row.
const rowMin = 16

// sweep goes through the points that have been reduced into.
type sweep[R any] struct {
	pages    []*page[R]
	logs     []*pageLog[R]
	marks    []*marks
	fold     func(a, b R) R
	identity R
	n        int64 // the next one to look at
	log      digest[R]
}

func (f *Fold[L, R]) sweep() sweep[R] {
	return sweep[R]{pages: f.pages, logs: f.logs.of, marks: f.marks, fold: f.op.Fold, identity: *f.op.Identity}
}

// nextRow is the next row of them, within a page and at most limit: the number of the first, and the values; none at
// the end. The values are valid until the next call.
func (s *sweep[R]) nextRow(limit int) (first int64, v []R) {
	m, ok := s.seek()
	if !ok {
		return 0, nil
	}
	n := s.n
	limit = min(limit, int(pageLen-n%pageLen))
	for length := 0; ; {
		ones := bits.TrailingZeros64(^(m[uint64(s.n)%markLen/64] >> (s.n % 64)))
		ones = min(ones, 64-int(s.n%64), limit-length)
		length += ones
		if s.n += int64(ones); ones == 0 || length == limit || s.n%64 != 0 {
			return n, s.values(m, n)[:length]
		}
	}
}

// values is those from point n on, as many as follow each other in its page. m is the sheet of its mark.
func (s *sweep[R]) values(m *marks, n int64) []R {
	i, in := n/pageLen, n%pageLen
	if p := s.pages[i]; p != nil {
		if l := s.logs[i]; l != nil {
			l.joinPage(p, s.fold)
		}
		return p[in:]
	}
	words := m[(n-in)%markLen/64:][:pageLen/64]
	if s.log.page != i+1 {
		s.log.page = i + 1
		s.log.takeLog(s.logs[i], words, s.fold, s.identity)
	}
	return s.log.vals[s.log.rank(words, uint64(in)):]
}

// seek moves to the next mark, and returns its sheet.
func (s *sweep[R]) seek() (*marks, bool) {
	for k := s.n / markLen; k < int64(len(s.marks)); k, s.n = k+1, (k+1)*markLen {
		m := s.marks[k]
		if m == nil {
			continue
		}
		for i := uint64(s.n) % markLen / 64; i < uint64(len(m)); i++ {
			if w := m[i] >> (s.n % 64); w != 0 {
				s.n += int64(bits.TrailingZeros64(w))
				return m, true
			}
			s.n = (s.n/64 + 1) * 64
		}
	}
	return nil, false
}

// bytesOf is the memory of v.
func bytesOf[T any](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}
