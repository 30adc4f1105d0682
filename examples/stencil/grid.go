package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/golci/golci/realm"
)

// grid cuts the plate: rows times cols blocks, numbered row by row.
type grid struct {
	n          int // inner points of a side
	rows, cols int
}

// divide finds the cut into so many blocks that are most like squares.
func divide(n, blocks int) (grid, error) {
	best := grid{}
	for rows := 1; rows <= n && rows <= blocks; rows++ {
		cols := blocks / rows
		if rows*cols == blocks && cols <= n && (best.rows == 0 || rows+cols < best.rows+best.cols) {
			best = grid{n, rows, cols}
		}
	}
	if best.rows == 0 {
		return best, fmt.Errorf("a plate of %d x %d points cannot be cut into %d blocks", n, n, blocks)
	}
	return best, nil
}

// area is where the points of a block begin and end. Points are counted from 0; -1 and n are the rim of the plate.
func (g grid) area(block int) (y0, y1, x0, x1 int64) {
	cut := func(i, of int) int64 { return int64(i * g.n / of) }
	y, x := block/g.cols, block%g.cols
	return cut(y, g.rows), cut(y+1, g.rows), cut(x, g.cols), cut(x+1, g.cols)
}

// Sides of a block.
const (
	up = iota
	down
	left
	right
	sides
)

// opposite is the side of the neighbour that touches a side.
func opposite(side int) int { return side ^ 1 }

// beside is the neighbour of a block, or -1 at the rim.
func (g grid) beside(block, side int) int {
	y, x := block/g.cols, block%g.cols
	switch side {
	case up:
		y--
	case down:
		y++
	case left:
		x--
	case right:
		x++
	}
	if y < 0 || y == g.rows || x < 0 || x == g.cols {
		return -1
	}
	return y*g.cols + x
}

// edge is the points of a block along a side.
func (g grid) edge(block, side int) realm.Space {
	y0, y1, x0, x1 := g.area(block)
	switch side {
	case up:
		y1 = y0 + 1
	case down:
		y0 = y1 - 1
	case left:
		x1 = x0 + 1
	case right:
		x0 = x1 - 1
	}
	return realm.Rect([]int64{y0, x0}, []int64{y1, x1})
}

// relax computes a step of h times w points, which have a rim of one point, row by row.
func relax(next, now []float64, h, w int) {
	for y := 1; y <= h; y++ {
		above, here, below := now[(y-1)*(w+2):], now[y*(w+2):], now[(y+1)*(w+2):]
		out := next[y*(w+2):]
		for x := 1; x <= w; x++ {
			out[x] = 0.25 * (above[x] + below[x] + here[x-1] + here[x+1])
		}
	}
}

// hot is the temperature of the upper rim of the plate; that of the others is 0.
const hot = 1

// cold is h times w points at 0, and their rim; hotRim says whether the upper rim is that of the plate.
func cold(points []float64, w int, hotRim bool) {
	clear(points)
	for x := 1; hotRim && x <= w; x++ {
		points[x] = hot
	}
}

// serial computes all steps of a plate of n times n points in one piece. The result has the rim, too.
func serial(n, steps int) []float64 {
	now, next := make([]float64, (n+2)*(n+2)), make([]float64, (n+2)*(n+2))
	cold(now, n, true)
	cold(next, n, true)
	for range steps {
		relax(next, now, n, n)
		now, next = next, now
	}
	return now
}

var errDiffers = errors.New("the plate differs from that of a serial run")

// same compares the inner points of two plates of the same size.
func same(a, b []float64) error {
	n := int(math.Sqrt(float64(len(a)))) - 2
	for y := 1; y <= n; y++ {
		for x := 1; x <= n; x++ {
			if i := y*(n+2) + x; a[i] != b[i] {
				return fmt.Errorf("%w: point %d,%d: %v, not %v", errDiffers, y-1, x-1, a[i], b[i])
			}
		}
	}
	return nil
}
