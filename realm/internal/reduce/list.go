package reduce

import (
	"fmt"

	"github.com/golci/golci/realm/internal/space"
)

// sheetLen is how many reductions a sheet has.
const sheetLen = 1024

// sheet is a part of a log.
type sheet[R any] struct {
	n    int
	at   [sheetLen]int64
	vals [sheetLen]R
}

// List is an instance that is a log of reductions, which are applied in the order in which they were made. It is the
// only one for an operator without Fold. One goroutine at a time uses it. Tasks that reduce at once have a list each,
// and Join makes one of them.
type List[L, R any] struct {
	op     *Op[L, R]
	pts    points
	sheets []*sheet[R] // each but the last of a list that has been joined is full
	count  int64
}

// NewList makes a log of reductions by op into points of s. Errors: that of s; errOp if op has no Apply.
func NewList[L, R any](op *Op[L, R], s space.Space) (*List[L, R], error) {
	if s.Err() != nil {
		return nil, s.Err()
	}
	if op == nil {
		return nil, fmt.Errorf("%w: there is none", errOp)
	}
	if op.Apply == nil {
		return nil, fmt.Errorf("%w: %q has no Apply", errOp, op.Name)
	}
	return &List[L, R]{op: op, pts: pointsOf(s)}, nil
}

// sheetRoom is the sheet for the next reduction.
func (l *List[L, R]) sheetRoom() *sheet[R] {
	if k := len(l.sheets) - 1; k >= 0 && l.sheets[k].n < sheetLen {
		return l.sheets[k]
	}
	s := new(sheet[R])
	l.sheets = append(l.sheets, s)
	return s
}

// Reduce logs the reduction of v into the point with coordinate i, in a space of one dimension. errIndex: there is
// none.
func (l *List[L, R]) Reduce(i int64, v R) error {
	n, err := l.pts.numberOf(i)
	if err == nil {
		l.addValue(n, v)
	}
	return err
}

// ReduceAt is Reduce in a space of any dimension.
func (l *List[L, R]) ReduceAt(x space.Point, v R) error {
	n, err := l.pts.pointNumber(x)
	if err == nil {
		l.addValue(n, v)
	}
	return err
}

func (l *List[L, R]) addValue(n int64, v R) {
	s := l.sheetRoom()
	s.at[s.n], s.vals[s.n] = n, v
	s.n++
	l.count++
}

// ReduceAll is Reduce of each v[k] into the point with coordinate at[k]. errIndex: one does not exist, and those before
// it have been logged; or the lists differ in length.
func (l *List[L, R]) ReduceAll(at []int64, v []R) error {
	if len(at) != len(v) {
		return differ(len(at), len(v))
	}
	for len(at) > 0 {
		s := l.sheetRoom()
		n, err := l.pts.numbers(s.at[s.n:], at[:min(len(at), sheetLen-s.n)])
		copy(s.vals[s.n:], v[:n])
		s.n += n
		l.count += int64(n)
		if err != nil {
			return err
		}
		at, v = at[n:], v[n:]
	}
	return nil
}

// ReduceRow is Reduce of each v[k] into the point with coordinate i+k. errIndex: one does not exist, and nothing has
// been logged.
func (l *List[L, R]) ReduceRow(i int64, v []R) error {
	if len(v) == 0 {
		return nil
	}
	first, err := l.pts.rowNumber(i, len(v))
	for k := 0; err == nil && k < len(v); k++ {
		l.addValue(first+int64(k), v[k])
	}
	return err
}

// Len is how many reductions the log has.
func (l *List[L, R]) Len() int64 { return l.count }

// Join appends the log of m, which is empty then. Error: errType if m has another operator or space.
func (l *List[L, R]) Join(m *List[L, R]) error {
	if m.op != l.op || m != l && !m.pts.space.Equal(l.pts.space) || m == l {
		return fmt.Errorf("%w: a list of %q and one of %q", errType, l.op.Name, m.op.Name)
	}
	l.sheets = append(l.sheets, m.sheets...)
	l.count += m.count
	m.sheets, m.count = nil, 0
	return nil
}

// Reset empties the log, and keeps one sheet.
func (l *List[L, R]) Reset() {
	clear(l.sheets[min(1, len(l.sheets)):])
	l.sheets = l.sheets[:min(1, len(l.sheets))]
	for _, s := range l.sheets {
		s.n = 0
	}
	l.count = 0
}

// Apply applies the log to t. Error: errType if the operator or the space of t is another one.
func (l *List[L, R]) Apply(t *Target[L, R]) error {
	if err := t.fitsPoints(l.op, &l.pts); err != nil {
		return err
	}
	for _, s := range l.sheets {
		for i := 0; i < s.n; i += batch {
			end := min(i+batch, s.n)
			t.applyEach(s.at[i:end], s.vals[i:end])
		}
	}
	return nil
}
