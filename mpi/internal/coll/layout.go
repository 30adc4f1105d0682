package coll

import (
	"slices"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// layout says where in a buffer the ranks' parts lie.
type layout struct{ counts, displs []int }

// layout checks counts and displacements against a buffer of n elements; parts of a buffer that is written to must not
// overlap.
func (x *Call) layout(name string, n int, p *argument.Parts, written bool) (layout, error) {
	counts, displs := p.Counts, p.Displs
	if len(counts) != x.size {
		return layout{}, x.callErrorf(sentinel.ErrCount, "%d counts for the %s buffer, %d ranks", len(counts), name, x.size)
	}
	if displs == nil {
		return x.rowLayout(name, n, counts, written)
	}
	if len(displs) != x.size {
		return layout{}, x.callErrorf(sentinel.ErrCount, "%d displacements for the %s buffer, %d ranks", len(displs), name,
			x.size)
	}
	for i, c := range counts {
		if d := displs[i]; c < 0 || d < 0 || c > n || d > n-c {
			return layout{}, x.partError(name, i, c, d, n)
		}
	}
	l := layout{counts, displs}
	if written && l.overlaps() {
		return layout{}, x.callErrorf(sentinel.ErrBuffer, "parts of the %s buffer overlap", name)
	}
	return l, nil
}

// rowLayout is layout for parts one behind the other.
func (x *Call) rowLayout(name string, n int, counts []int, written bool) (layout, error) {
	displs := x.st.displsRoom(x.size, written)
	at := 0
	for i, c := range counts {
		if displs[i] = at; c < 0 || c > n-at {
			return layout{}, x.partError(name, i, c, at, n)
		}
		at += c
	}
	return layout{counts, displs}, nil
}

func (x *Call) partError(name string, i, count, at, n int) error {
	return x.callErrorf(sentinel.ErrCount, "part %d of the %s buffer, %d elements at %d, is not within its %d",
		i, name, count, at, n)
}

// partBytes is the i-th part of b, whose elements have size bytes.
func (l layout) partBytes(b []byte, i, size int) []byte {
	return b[l.displs[i]*size:][:l.counts[i]*size]
}

// sumLengths is how many elements all parts have.
func (l layout) sumLengths() (n int) {
	for _, c := range l.counts {
		n += c
	}
	return n
}

// partsOf are those of buffer b of a call.
func (l layout) partsOf(b schedule.Buf, size int) *schedule.Parts {
	return &schedule.Parts{Buf: b, Counts: l.counts, Displs: l.displs, Size: size}
}

// overlaps reports whether two parts share an element.
func (l layout) overlaps() bool {
	end, sorted := 0, true
	for i, c := range l.counts {
		if c > 0 {
			sorted = sorted && l.displs[i] >= end
			end = l.displs[i] + c
		}
	}
	if sorted {
		return false
	}
	var order []int
	for i, c := range l.counts {
		if c > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return l.displs[a] - l.displs[b] })
	for k := 1; k < len(order); k++ {
		if a := order[k-1]; l.displs[a]+l.counts[a] > l.displs[order[k]] {
			return true
		}
	}
	return false
}

// displsRoom gives room for n displacements, of the running call.
func (st *State) displsRoom(n int, written bool) []int {
	d := &st.displs[0]
	if written {
		d = &st.displs[1]
	}
	if cap(*d) < n {
		*d = make([]int, n)
	}
	return (*d)[:n]
}
