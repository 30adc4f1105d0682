package main

import (
	"errors"

	"github.com/golci/golci/mpi"
)

// part is a rank's rectangle of the plate, h by w points, with a border of one point around it. The window has two
// planes of it. A step reads one and writes the other, where neighbours then put their edges. Rows are stride apart on
// all ranks, so that a rank knows where a neighbour's border lies.
type part struct {
	c      *mpi.Comm
	cart   mpi.Cart
	dims   []int
	n      int
	row    int // of the rank in the grid
	col    int
	h, w   int
	stride int
	plane  int // elements of a plane
	now    int // the plane that is up to date
	win    *mpi.Win[float64]
	near   []int // the neighbours
	up     int   // each of them, or mpi.ProcNull
	down   int
	left   int
	right  int
}

// cut gives the first of n points of piece i of so many pieces, and their number.
func cut(n, pieces, i int) (first, points int) {
	first = n * i / pieces
	return first, n*(i+1)/pieces - first
}

func newPart(c *mpi.Comm, n int) (*part, error) {
	cart, err := c.Cart()
	if err != nil {
		return nil, err
	}
	at, err := cart.Coords(c.Rank())
	if err != nil {
		return nil, err
	}
	p := &part{c: c, cart: cart, n: n, row: at[0], col: at[1]}
	p.dims, _ = cart.Dims()
	_, p.h = cut(n, p.dims[0], p.row)
	_, p.w = cut(n, p.dims[1], p.col)
	p.stride = (n+p.dims[1]-1)/p.dims[1] + 2
	p.plane = ((n+p.dims[0]-1)/p.dims[0] + 2) * p.stride
	var errs [2]error
	p.up, p.down, errs[0] = cart.Shift(0, 1)
	p.left, p.right, errs[1] = cart.Shift(1, 1)
	for _, r := range []int{p.up, p.down, p.left, p.right} {
		if r != mpi.ProcNull {
			p.near = append(p.near, r)
		}
	}
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if p.win, err = mpi.AllocateWin[float64](c, 2*p.plane); err != nil {
		return nil, err
	}
	if p.row == 0 { // the upper border of the plate is hot
		for plane := range 2 {
			for x := range p.w {
				p.win.Memory()[plane*p.plane+1+x] = 1
			}
		}
	}
	return p, nil
}

// step computes one step and exchanges edges. The border of the plane that it writes is not read here, so neighbours
// may put into it from the beginning on.
func (p *part) step() error {
	if err := p.win.Post(p.near, 0); err != nil {
		return err
	}
	mem := p.win.Memory()
	next := 1 - p.now
	relax(mem[p.now*p.plane:][:p.plane], mem[next*p.plane:][:p.plane], p.h, p.w, p.stride)
	p.now = next
	return errors.Join(p.win.Start(p.near, 0), p.putEdges(mem, next*p.plane), p.win.Complete(), p.win.Wait())
}

// putEdges puts the outer rows and columns of the plane at the offset from into the borders of the neighbours.
func (p *part) putEdges(mem []float64, from int) error {
	at := func(y, x int) int { return from + y*p.stride + x }
	_, above := cut(p.n, p.dims[0], p.row-1)
	_, beside := cut(p.n, p.dims[1], p.col-1)
	column := mpi.Strided{Count: p.h, Block: 1, Stride: p.stride}
	return errors.Join(
		p.win.Put(mem[at(1, 1):][:p.w], p.up, at(above+1, 1)),
		p.win.Put(mem[at(p.h, 1):][:p.w], p.down, at(0, 1)),
		p.win.PutStrided(mem[at(1, 1):], column, p.left, at(1, beside+1), column),
		p.win.PutStrided(mem[at(1, p.w):], column, p.right, at(1, 0), column),
	)
}

// relax makes the inner points of next from now: each is the mean of its four neighbours.
func relax(now, next []float64, h, w, stride int) {
	for y := 1; y <= h; y++ {
		above, here, below := now[(y-1)*stride:][:stride], now[y*stride:][:stride], now[(y+1)*stride:][:stride]
		out := next[y*stride:][:stride]
		for x := 1; x <= w; x++ {
			out[x] = 0.25 * ((above[x] + below[x]) + (here[x-1] + here[x+1]))
		}
	}
}

// collect reads the whole plate out of all windows. The other ranks do nothing for it.
func (p *part) collect() ([]float64, error) {
	whole := make([]float64, p.n*p.n)
	for r := range p.c.Size() {
		at, err := p.cart.Coords(r)
		if err != nil {
			return nil, err
		}
		y, h := cut(p.n, p.dims[0], at[0])
		x, w := cut(p.n, p.dims[1], at[1])
		if h == 0 || w == 0 {
			continue
		}
		err = p.win.Locked(mpi.LockShared, r, func() error {
			return p.win.GetStrided(whole[y*p.n+x:], mpi.Strided{Count: h, Block: w, Stride: p.n}, r,
				p.now*p.plane+p.stride+1, mpi.Strided{Count: h, Block: w, Stride: p.stride})
		})
		if err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// serial computes the plate without ranks.
func serial(n, steps int) []float64 {
	stride := n + 2
	now, next := make([]float64, stride*stride), make([]float64, stride*stride)
	for x := 1; x <= n; x++ {
		now[x], next[x] = 1, 1
	}
	for range steps {
		relax(now, next, n, n, stride)
		now, next = next, now
	}
	whole := make([]float64, 0, n*n)
	for y := 1; y <= n; y++ {
		whole = append(whole, now[y*stride+1:][:n]...)
	}
	return whole
}
