package reduce

import (
	"fmt"

	"github.com/golci/golci/realm/internal/space"
)

// batch is how many reductions the loops take at a time.
const batch = 256

// points turns the coordinates that users give into the numbers of points.
type points struct {
	space space.Space
	lo    int64 // of a range, else 0
	count int64
	line  bool // the space is a range
}

func pointsOf(s space.Space) points {
	p := points{space: s, count: s.Count(), line: s.Dim() == 1 && s.Dense()}
	if p.line {
		lo, _ := s.Bounds()
		p.lo = lo[0]
	}
	return p
}

// numberOf is that of the point with coordinate i.
func (p *points) numberOf(i int64) (int64, error) {
	if !p.line {
		return p.pointNumber(space.Point{i})
	}
	if n := i - p.lo; uint64(n) < uint64(p.count) {
		return n, nil
	}
	return 0, p.outside(space.Point{i})
}

// pointNumber is the number of point x.
func (p *points) pointNumber(x space.Point) (int64, error) {
	n := p.space.Index(x)
	if n < 0 {
		return 0, p.outside(x)
	}
	return n, nil
}

// numbers turns coordinates into numbers, and tells how many there were before one that is outside.
func (p *points) numbers(dst, is []int64) (int, error) {
	for k, i := range is {
		n := i - p.lo
		if !p.line || uint64(n) >= uint64(p.count) {
			var err error
			if n, err = p.numberOf(i); err != nil {
				return k, err
			}
		}
		dst[k] = n
	}
	return len(is), nil
}

// rowNumber is the number of the point with coordinate i, which n-1 more must follow in the space.
func (p *points) rowNumber(i int64, n int) (int64, error) {
	first, err := p.numberOf(i)
	if err == nil && n > 1 {
		var last int64
		if last, err = p.numberOf(i + int64(n) - 1); err == nil && last-first != int64(n)-1 {
			err = fmt.Errorf("%w: a row of %d points at %d, in %v", errIndex, n, i, p.space)
		}
	}
	return first, err
}

func (p *points) outside(x space.Point) error {
	return fmt.Errorf("%w: %v in %v", errIndex, x[:p.space.Dim()], p.space)
}

func differ(at, v int) error {
	return fmt.Errorf("%w: %d points and %d values", errIndex, at, v)
}
