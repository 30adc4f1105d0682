package space

import (
	"cmp"
	"errors"
)

// Limits.
const (
	MaxDim   = 3       // dimensions of a space
	MaxCoord = 1 << 40 // the largest coordinate, and the negative of the smallest
	MaxRows  = 1 << 21 // of a sparse space, and of what a set operation or a plan visits
	MaxBytes = 1 << 46 // of a layout
)

// Errors of this package wrap one of these.
var (
	ErrSpace  = errors.New("space: bad space")        // coordinates, dimensions or rows that cannot be
	errLayout = errors.New("space: bad layout")       // fields, offsets or strides that cannot be
	ErrPoints = errors.New("space: points outside")   // points that a layout does not have
	ErrFields = errors.New("space: fields differ")    // fields that do not exist or have different sizes
	errWire   = errors.New("space: malformed bytes")  // bytes that encode no value of this package
	errMemory = errors.New("space: memory too small") // memory that does not hold the layout
)

// Point is the coordinates of a point. Those beyond the dimensions of its space are 0. The last one moves fastest.
type Point [MaxDim]int64

// Row is N points that follow each other in the last dimension of their space, from Lo on.
type Row struct {
	Lo Point
	N  int64
}

// compareTo orders points by their first coordinates, then by the next ones.
func (p Point) compareTo(q Point) int {
	if p[0] != q[0] {
		return cmp.Compare(p[0], q[0])
	}
	if p[1] != q[1] {
		return cmp.Compare(p[1], q[1])
	}
	return cmp.Compare(p[2], q[2])
}

// plusIn is p moved by n in dimension d.
func (p Point) plusIn(d int, n int64) Point {
	p[d] += n
	return p
}

// sameRow tells whether p and q differ in dimension last only.
func (p Point) sameRow(q Point, last int) bool {
	for d := range last {
		if p[d] != q[d] {
			return false
		}
	}
	return true
}
