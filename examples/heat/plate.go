package main

import "fmt"

// The temperature at the upper border, and at the others and within at the beginning.
const hot, cold = 1, 0

// plate is a rectangle of points with a border of one point around them, row by row.
type plate struct {
	h, w int // without the border
	t    []float64
}

func newPlate(h, w int) plate { return plate{h: h, w: w, t: make([]float64, (h+2)*(w+2))} }

// row is the inner points of a row; 0 and h+1 are the borders.
func (p plate) row(y int) []float64 {
	begin := y*(p.w+2) + 1
	return p.t[begin : begin+p.w]
}

// heatUp gives the upper border its temperature; the other points have theirs.
func (p plate) heatUp() {
	for x := range p.w {
		p.row(0)[x] = hot
	}
}

// step makes next from p, whose border must be up to date.
func (p plate) step(next plate) {
	stride := p.w + 2
	for y := 1; y <= p.h; y++ {
		above, here, below := p.t[(y-1)*stride:][:stride], p.t[y*stride:][:stride], p.t[(y+1)*stride:][:stride]
		out := next.t[y*stride:][:stride]
		for x := 1; x <= p.w; x++ {
			out[x] = 0.25 * (above[x] + below[x] + here[x-1] + here[x+1])
		}
	}
}

// at says where the outermost inner points of a side lie in t: the first one, and how far the next one is. Those of the
// border are out further.
func (p plate) at(s side) (first, next, out int) {
	stride := p.w + 2
	switch s {
	case up:
		return stride + 1, 1, -stride
	case down:
		return p.h*stride + 1, 1, stride
	case left:
		return stride + 1, stride, -1
	default:
		return stride + p.w, stride, 1
	}
}

// edge copies the outermost inner points of a side to line.
func (p plate) edge(s side, line []float64) {
	first, next, _ := p.at(s)
	for i := range line {
		line[i] = p.t[first+i*next]
	}
}

// setBorder copies line to the border of a side.
func (p plate) setBorder(s side, line []float64) {
	first, next, out := p.at(s)
	for i, v := range line {
		p.t[first+out+i*next] = v
	}
}

func (p plate) length(s side) int {
	if s == up || s == down {
		return p.w
	}
	return p.h
}

func (p plate) mean() float64 {
	sum := 0.0
	for y := 1; y <= p.h; y++ {
		for _, v := range p.row(y) {
			sum += v
		}
	}
	return sum / float64(p.h) / float64(p.w)
}

// serial computes the whole plate, of n by n points, at one place.
func serial(n, steps int) plate {
	now, next := newPlate(n, n), newPlate(n, n)
	now.heatUp()
	next.heatUp()
	for range steps {
		now.step(next)
		now, next = next, now
	}
	return now
}

// compare is an error if an inner point differs at all: each is computed from the same numbers in the same order.
func (p plate) compare(want plate) error {
	for y := 1; y <= p.h; y++ {
		for x, v := range p.row(y) {
			if w := want.row(y)[x]; v != w {
				return fmt.Errorf("not equal to a serial run: row %d, column %d has %v, serially %v", y, x+1, v, w)
			}
		}
	}
	return nil
}
