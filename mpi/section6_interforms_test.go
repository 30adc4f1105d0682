package mpi

import "errors"

// interFormRules are vector forms of collectives of two groups, and forms that do not wait or that last.
func interFormRules() []rule {
	return []rule{
		{"6.5", "InPlace is no buffer between two groups", 4, halves(func(c *Comm, low bool) error {
			recv := make([]int64, 8)
			return fails("Gather", Gather(c, InPlace(recv), recv, rootOf(c, low)), ErrBuffer)
		})},
		{"6.5", "Gatherv from the other group", 7, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			counts, sum := rampOf(n)
			root, recv := rootOf(c, low), make([]int64, sum)
			err = errors.Join(err, Gatherv(c, repeated(c.Rank()), recv, counts, nil, root))
			if root != Root {
				return err
			}
			return errors.Join(err, listIs("all", recv, allRepeated(n)))
		})},
		{"6.6", "Scatterv to the other group", 7, halves(func(c *Comm, low bool) error {
			n, err := c.RemoteSize()
			counts, _ := rampOf(n)
			recv := make([]int64, c.Rank()+1)
			err = errors.Join(err, Scatterv(c, allRepeated(n), counts, nil, recv, rootOf(c, low)))
			if low {
				return err
			}
			return errors.Join(err, listIs("part", recv, repeated(c.Rank())))
		})},
		{"6.7", "Allgatherv of two groups", 6, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			counts, sum := rampOf(n)
			recv := make([]int64, sum)
			err = errors.Join(err, Allgatherv(c, repeated(c.Rank()), recv, counts, nil))
			return errors.Join(err, listIs("all", recv, allRepeated(n)))
		})},
		{"6.8", "Alltoallv of two groups", 5, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			counts, sum := rampOf(n)
			same := make([]int, n)
			for i := range same {
				same[i] = c.Rank() + 1
			}
			recv := make([]int64, n*(c.Rank()+1))
			err = errors.Join(err, Alltoallv(c, allRepeated(n), counts, nil, recv, same, nil))
			short := Alltoallv(c, make([]int64, sum-1), counts, nil, recv, same, nil)
			for _, v := range recv {
				err = errors.Join(err, is("element", v, int64(c.Rank())))
			}
			return errors.Join(err, fails("a short buffer", short, ErrCount))
		})},
		{"6.10.1", "ReduceScatterBlock of two groups", 6, halves(func(c *Comm, _ bool) error {
			return reducesBoth(c, func(send, recv []int64, _ []int) error { return ReduceScatterBlock(c, send, recv, Sum) })
		})},
		{"6.10.2", "ReduceScatter of two groups", 6, halves(func(c *Comm, _ bool) error {
			return reducesBoth(c, func(send, recv []int64, counts []int) error {
				return ReduceScatter(c, send, recv, counts, Sum)
			})
		})},
		{"6.12.2", "Ibcast from one group to the other", 5, halves(func(c *Comm, low bool) error {
			buf := []int64{5}
			if !low {
				buf[0] = -1
			}
			return errors.Join(done(Ibcast(c, buf, rootOf(c, low))), is("value", buf[0], 5))
		})},
		{"6.13.8", "a persistent Allreduce of two groups, of the program's operation", 5, halves(func(c *Comm, _ bool) error {
			n, err := c.RemoteSize()
			recv := []int64{-1}
			add := Func(func(a, b int64) int64 { return a + b })
			r, err2 := AllreduceInit(c, []int64{1}, recv, add)
			err = errors.Join(err, err2)
			for range 2 {
				recv[0] = -1
				err = errors.Join(err, r.Start(), done(r, nil), is("sum", recv[0], int64(n)))
			}
			return errors.Join(err, r.Free())
		})},
	}
}

// rampOf are the counts 1 to n, and their sum.
func rampOf(n int) (counts []int, sum int) {
	for i := range n {
		counts = append(counts, i+1)
	}
	return counts, n * (n + 1) / 2
}

// repeated is r, r+1 times.
func repeated(r int) (b []int64) {
	for range r + 1 {
		b = append(b, int64(r))
	}
	return b
}

// allRepeated is what repeated gives for the ranks below n, one behind the other.
func allRepeated(n int) (b []int64) {
	for r := range n {
		b = append(b, repeated(r)...)
	}
	return b
}

// reducesBoth has each group reduce the vectors of the other one. Each vector has as many elements as the two groups
// have equal parts.
func reducesBoth(c *Comm, f func(send, recv []int64, counts []int) error) error {
	n, err := c.RemoteSize()
	counts := make([]int, c.Size())
	for i := range counts {
		counts[i] = n
	}
	send, want := evenNumbers(n*c.Size()), make([]int64, n)
	recv := make([]int64, n)
	for i := range want {
		want[i] = int64(n * 2 * (c.Rank()*n + i))
	}
	return errors.Join(err, f(send, recv, counts), listIs("part", recv, want))
}
