package mpitest

import (
	"math/rand/v2"

	"github.com/golci/golci/mpi/internal/dtype"
)

// layout is a datatype, and where the model says that the bytes of an element lie.
type layout struct {
	t      *dtype.Type
	places []int // of the packed bytes, from the element's address on
	extent int
}

// run is some bytes in one piece.
type run struct{ at, n int }

// drawLayout draws a datatype of size bytes: in one piece, with gaps behind, before or between its bytes, with its
// pieces the other way round, or before its address.
func drawLayout(r *rand.Rand, size int) layout {
	gap, lead, cut := 1+r.IntN(5), 1+r.IntN(3), r.IntN(size+1)
	switch r.IntN(6) {
	case 0:
		return newLayout(0, size, run{0, size})
	case 1:
		return newLayout(0, size+gap, run{0, size})
	case 2:
		return newLayout(0, lead+size+gap, run{lead, size})
	case 3:
		return newLayout(0, size+gap, run{0, cut}, run{cut + gap, size - cut})
	case 4:
		return newLayout(0, size+gap, run{cut + gap, size - cut}, run{0, cut})
	}
	return newLayout(-lead, lead+size, run{-lead, size})
}

// newLayout makes the datatype whose bytes are the runs in their order.
func newLayout(lb, extent int, runs ...run) layout {
	l := layout{extent: extent}
	var lens, displs []int64
	for _, p := range runs {
		lens, displs = append(lens, int64(p.n)), append(displs, int64(p.at))
		for i := range p.n {
			l.places = append(l.places, p.at+i)
		}
	}
	t, err := dtype.Hindexed(lens, displs, dtype.Named(dtype.Byte))
	if err == nil {
		t, err = dtype.Resized(int64(lb), int64(extent), t)
	}
	if err != nil {
		panic(err) // of a bug in this package
	}
	t.Commit()
	l.t = t
	return l
}

func (l layout) size() int { return len(l.places) }

// area is n elements at a place of a buffer.
type area struct {
	at, n int
	of    layout
}

// place is where packed byte i of the area lies.
func (a area) place(i int) int { return a.at + i/a.of.size()*a.of.extent + a.of.places[i%a.of.size()] }

func (a area) bytes() int { return a.n * a.of.size() }

// bounds are the lowest place of a byte, and the place behind the highest one.
func (a area) bounds() (low, high int) {
	if a.bytes() == 0 {
		return a.at, a.at
	}
	low, high = a.place(0), a.place(0)
	for i := range a.of.size() {
		for _, k := range []int{i, a.bytes() - a.of.size() + i} {
			low, high = min(low, a.place(k)), max(high, a.place(k)+1)
		}
	}
	return low, high
}
