package dtype

import (
	"fmt"
	"math"

	"github.com/golci/golci/mpi/internal/errs"
)

// maxAlign is the greatest alignment of a basic.
const maxAlign = 16

// span is the places from low to high. Places are added, and the span grows.
type span struct {
	low, high int64
	some      bool
}

func (s *span) addRange(low, high int64) {
	if !s.some {
		*s = span{low, high, true}
		return
	}
	s.low, s.high = min(s.low, low), max(s.high, high)
}

// measure computes what follows from the type map: size, bounds, alignment and signature. What has no entries counts
// for nothing. Bounds that Resized has set replace those of the data, in all types above, too (5.1.6, 5.1.7).
func (t *Type) measure() error {
	var c checked
	var plain, marks, data span
	if t.reps > 0 {
		low, high := reach(&c, t.reps, t.step)
		for i := range t.blocks {
			b := &t.blocks[i]
			if b.n == 0 || b.t.void() {
				continue
			}
			l, h := reach(&c, b.n, b.t.ub-b.t.lb)
			l, h = c.addChecked(c.addChecked(l, low), b.disp), c.addChecked(c.addChecked(h, high), b.disp)
			into := &plain
			if b.t.marked {
				into = &marks
			}
			into.addRange(c.addChecked(l, b.t.lb), c.addChecked(h, b.t.ub))
			if b.t.basics > 0 {
				data.addRange(c.addChecked(l, b.t.trueLB), c.addChecked(h, b.t.trueUB))
			}
			t.size = c.addChecked(t.size, c.mul(b.n, b.t.size))
			t.basics = c.addChecked(t.basics, c.mul(b.n, b.t.basics))
			t.align = max(t.align, b.t.align)
		}
		t.size, t.basics = c.mul(t.size, t.reps), c.mul(t.basics, t.reps)
	}
	t.trueLB, t.trueUB = data.low, data.high
	t.lb, t.ub, t.marked = plain.low, plain.high, marks.some
	if t.marked {
		t.lb, t.ub = marks.low, marks.high
	}
	c.addChecked(t.ub, -t.lb)
	if c.overflow || t.lb == math.MinInt64 || t.ub > math.MaxInt64-maxAlign {
		return fmt.Errorf("%w: a size or bound of the datatype is no 64-bit number", errs.ValueTooLarge)
	}
	t.sum = t.sumUp()
	return nil
}

// void reports that the type map has no entries.
func (t *Type) void() bool { return t.basics == 0 && !t.marked }

// reach is the least and the greatest of the places of n copies, step bytes apart.
func reach(c *checked, n, step int64) (low, high int64) {
	last := c.mul(n-1, step)
	return min(last, 0), max(last, 0)
}

// pad rounds the extent up to the alignment, as the elements of an array of such structures lie (5.1.6).
func (t *Type) pad() {
	if t.marked || t.align == 0 {
		return
	}
	if over := (t.ub - t.lb) % t.align; over > 0 {
		t.ub += t.align - over
	}
}
