package topo

// Tiles is hints for Reorder: the ways to cut a grid into equal boxes of so many ranks, one for each node. There are
// none where no box of that size divides the grid.
func (c *Cart) Tiles(size int) (hints [][]int) {
	box := make([]int, len(c.dims))
	c.boxes(box, 0, size, func() {
		part := make([]int, c.size)
		for rank := range part {
			part[rank] = c.boxOf(rank, box)
		}
		hints = append(hints, part)
	})
	return hints
}

// boxes calls f with each box of that size whose sides divide the dimensions; those before dim are chosen.
func (c *Cart) boxes(box []int, dim, size int, f func()) {
	if dim == len(box) {
		if size == 1 {
			f()
		}
		return
	}
	for side := 1; side <= min(size, c.dims[dim]); side++ {
		if size%side == 0 && c.dims[dim]%side == 0 {
			box[dim] = side
			c.boxes(box, dim+1, size/side, f)
		}
	}
}

// boxOf is the number of the box of a rank.
func (c *Cart) boxOf(rank int, box []int) (number int) {
	rest := c.size
	for i, d := range c.dims {
		rest /= d
		number = number*(d/box[i]) + rank/rest%d/box[i]
	}
	return number
}
