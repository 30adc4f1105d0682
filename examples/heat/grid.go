package main

import "fmt"

// maxSide keeps products of two sides, and tags, in range.
const maxSide = 1 << 15

// grid cuts the plate: rows times cols tiles, numbered row by row. Each rank has as many consecutive ones.
type grid struct {
	n          int // inner points of a side
	rows, cols int
	perRank    int
}

// divide finds the cut whose tiles are most like squares.
func divide(n, ranks, perRank int) (grid, error) {
	best := grid{}
	for rows := 1; rows <= n && rows <= ranks*perRank; rows++ {
		cols := ranks * perRank / rows
		if rows*cols == ranks*perRank && cols <= n && (best.rows == 0 || rows+cols < best.rows+best.cols) {
			best = grid{n: n, rows: rows, cols: cols, perRank: perRank}
		}
	}
	if best.rows == 0 {
		return best, fmt.Errorf("%d x %d points cannot be cut into %d tiles: want more points, or another number of tiles",
			n, n, ranks*perRank)
	}
	return best, nil
}

func (g grid) owner(tile int) int { return tile / g.perRank }

// area is the points of a tile: rows y0 to y1 and columns x0 to x1, without the last.
func (g grid) area(tile int) (y0, y1, x0, x1 int) {
	r, c := tile/g.cols, tile%g.cols
	return r * g.n / g.rows, (r + 1) * g.n / g.rows, c * g.n / g.cols, (c + 1) * g.n / g.cols
}

type side int

const (
	up side = iota
	down
	left
	right
	sides
)

func (s side) opposite() side { return s ^ 1 }

// neighbour is the tile beyond a side, if there is one.
func (g grid) neighbour(tile int, s side) (int, bool) {
	r, c := tile/g.cols, tile%g.cols
	switch s {
	case up:
		r--
	case down:
		r++
	case left:
		c--
	default:
		c++
	}
	if r < 0 || r == g.rows || c < 0 || c == g.cols {
		return 0, false
	}
	return r*g.cols + c, true
}

// haloTag is the tag of what comes into a tile over one of its sides.
func haloTag(tile int, s side) int { return tile*int(sides) + int(s) }
