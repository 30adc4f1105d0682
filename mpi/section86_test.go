package mpi

import (
	"errors"
	"fmt"
)

// around is a test on a distributed graph: data comes from the ranks before, and goes to those behind, at these
// distances.
func around(distances []int, f func(c *Comm) error) func(c *Comm) error {
	return func(c *Comm) error {
		var from, to []Neighbor
		for _, by := range distances {
			from = append(from, Neighbor{Rank: (c.Rank() - by + c.Size()) % c.Size()})
			to = append(to, Neighbor{Rank: (c.Rank() + by) % c.Size()})
		}
		d, err := c.CreateDistGraphAdjacent(from, to, false)
		if err != nil {
			return err
		}
		return f(d)
	}
}

// nearForm is a form of a collective: one that waits, one that does not, and a persistent one that is started twice.
type nearForm struct {
	name string
	run  func(wait func() error, start, init func() (Request, error)) error
}

var nearForms = []nearForm{
	{"waits", func(wait func() error, _, _ func() (Request, error)) error { return wait() }},
	{"does not wait", func(_ func() error, start, _ func() (Request, error)) error {
		r, err := start()
		if err != nil {
			return err
		}
		_, err = r.Wait()
		return err
	}},
	{"persistent", func(_ func() error, _, initial func() (Request, error)) error {
		r, err := initial()
		if err != nil {
			return err
		}
		for range 2 {
			if err := r.Start(); err != nil {
				return err
			}
			if _, err := r.Wait(); err != nil {
				return err
			}
		}
		return r.Free()
	}},
}

// value is what a rank sends as number i of part p.
func value(rank, p, i int) int64 { return int64(rank*10000 + p*100 + i) }

// sendBuf has the parts of a rank, of n numbers each.
func sendBuf(rank, parts, n int) (buf []int64) {
	for p := range parts {
		for i := range n {
			buf = append(buf, value(rank, p, i))
		}
	}
	return buf
}

// cameFrom checks one part that a rank has received.
func cameFrom(got []int64, rank, p int) error {
	for i, v := range got {
		if want := value(rank, p, i); rank >= 0 && v != want || rank < 0 && v != -1 {
			return fmt.Errorf("number %d from rank %d is %d, want %d", i, rank, v, want)
		}
	}
	return nil
}

func blank(n int) []int64 {
	buf := make([]int64, n)
	for i := range buf {
		buf[i] = -1
	}
	return buf
}

// partFor is which part of its send buffer the neighbour has for place i of a list: in a grid that of the other
// direction, else the same.
func partFor(c *Comm, i int) int {
	if _, err := c.Cart(); err == nil {
		return i ^ 1
	}
	return i
}

// allgathers checks NeighborAllgather with n numbers.
func allgathers(n int, form nearForm) func(c *Comm) error {
	return func(c *Comm) error {
		from, _, err := c.Neighbors()
		send, recv := sendBuf(c.Rank(), 1, n), blank(n*len(from))
		err = errors.Join(err, form.run(func() error { return NeighborAllgather(c, send, recv) },
			func() (Request, error) { return IneighborAllgather(c, send, recv) },
			func() (Request, error) { return NeighborAllgatherInit(c, send, recv) }))
		for i, peer := range from {
			err = errors.Join(err, cameFrom(recv[i*n:][:n], peer, 0))
		}
		return err
	}
}

// allgathersv checks NeighborAllgatherv; the parts lie in reverse order, one number apart.
func allgathersv(n int, form nearForm) func(c *Comm) error {
	return func(c *Comm) error {
		from, _, err := c.Neighbors()
		counts, displs := make([]int, len(from)), make([]int, len(from))
		for i := range from {
			counts[i], displs[i] = n, (len(from)-1-i)*(n+1)
		}
		send, recv := sendBuf(c.Rank(), 1, n), blank((n+1)*len(from))
		err = errors.Join(err, form.run(func() error { return NeighborAllgatherv(c, send, recv, counts, displs) },
			func() (Request, error) { return IneighborAllgatherv(c, send, recv, counts, displs) },
			func() (Request, error) { return NeighborAllgathervInit(c, send, recv, counts, displs) }))
		for i, peer := range from {
			err = errors.Join(err, cameFrom(recv[displs[i]:][:n], peer, 0), is("gap", recv[displs[i]+n], -1))
		}
		return err
	}
}

// alltoalls checks NeighborAlltoall.
func alltoalls(n int, form nearForm) func(c *Comm) error {
	return func(c *Comm) error {
		from, to, err := c.Neighbors()
		send, recv := sendBuf(c.Rank(), len(to), n), blank(n*len(from))
		err = errors.Join(err, form.run(func() error { return NeighborAlltoall(c, send, recv) },
			func() (Request, error) { return IneighborAlltoall(c, send, recv) },
			func() (Request, error) { return NeighborAlltoallInit(c, send, recv) }))
		for i, peer := range from {
			err = errors.Join(err, cameFrom(recv[i*n:][:n], peer, partFor(c, i)))
		}
		return err
	}
}

// alltoallsv checks NeighborAlltoallv, without displacements.
func alltoallsv(n int, form nearForm) func(c *Comm) error {
	return func(c *Comm) error {
		from, to, err := c.Neighbors()
		scounts, rcounts := make([]int, len(to)), make([]int, len(from))
		for i := range to {
			scounts[i] = n
		}
		for i := range from {
			rcounts[i] = n
		}
		send, recv := sendBuf(c.Rank(), len(to), n), blank(n*len(from))
		err = errors.Join(err, form.run(func() error { return NeighborAlltoallv(c, send, scounts, nil, recv, rcounts, nil) },
			func() (Request, error) { return IneighborAlltoallv(c, send, scounts, nil, recv, rcounts, nil) },
			func() (Request, error) { return NeighborAlltoallvInit(c, send, scounts, nil, recv, rcounts, nil) }))
		for i, peer := range from {
			err = errors.Join(err, cameFrom(recv[i*n:][:n], peer, partFor(c, i)))
		}
		return err
	}
}

// alltoallsw checks NeighborAlltoallw: part i is sent as it lies, and received in every other place of a slice.
func alltoallsw(n int, form nearForm) func(c *Comm) error {
	return func(c *Comm) error {
		from, to, err := c.Neighbors()
		send, recv := make([]Part, len(to)), make([]Part, len(from))
		got := make([][]int64, len(from))
		for i := range to {
			send[i] = PartOf(sendBuf(c.Rank(), len(to), n)[i*n:][:n])
		}
		for i := range from {
			got[i] = blank(2*n + 1)
			recv[i] = StridedPart(got[i], Strided{n, 1, 2})
		}
		err = errors.Join(err, form.run(func() error { return NeighborAlltoallw(c, send, recv) },
			func() (Request, error) { return IneighborAlltoallw(c, send, recv) },
			func() (Request, error) { return NeighborAlltoallwInit(c, send, recv) }))
		for i, peer := range from {
			for k := range n {
				if v, want := got[i][2*k], value(peer, partFor(c, i), k); peer >= 0 && v != want || got[i][2*k+1] != -1 {
					err = errors.Join(err, fmt.Errorf("number %d from rank %d is %d, want %d", k, peer, v, want))
				}
			}
		}
		return err
	}
}

func inGrid(dims []int, periods []bool, f func(c *Comm) error) func(c *Comm) error {
	return grid(dims, periods, func(c *Comm, _ Cart) error { return f(c) })
}

// neighborRules have each collective in each form, in grids and graphs of many shapes.
func neighborRules() []rule {
	shapes := []struct {
		name  string
		ranks int
		on    func(f func(c *Comm) error) func(c *Comm) error
	}{
		{"a line", 3, func(f func(c *Comm) error) func(c *Comm) error { return inGrid([]int{3}, nil, f) }},
		{"a ring of two", 2, func(f func(c *Comm) error) func(c *Comm) error { return inGrid([]int{2}, ring, f) }},
		{"a ring of one", 1, func(f func(c *Comm) error) func(c *Comm) error { return inGrid([]int{1}, ring, f) }},
		{"a torus", 8, func(f func(c *Comm) error) func(c *Comm) error {
			return inGrid([]int{2, 2, 2}, []bool{true, false, true}, f)
		}},
		{"a graph with twins", 4, func(f func(c *Comm) error) func(c *Comm) error { return around([]int{1, 1, 0, 2}, f) }},
		{"no neighbours", 2, func(f func(c *Comm) error) func(c *Comm) error { return around(nil, f) }},
	}
	kinds := []struct {
		section, name string
		test          func(n int, form nearForm) func(c *Comm) error
	}{
		{"8.6.1", "NeighborAllgather", allgathers},
		{"8.6.1", "NeighborAllgatherv", allgathersv},
		{"8.6.2", "NeighborAlltoall", alltoalls},
		{"8.6.2", "NeighborAlltoallv", alltoallsv},
		{"8.6.2", "NeighborAlltoallw", alltoallsw},
	}
	var rules []rule
	for i, s := range shapes {
		for j, k := range kinds {
			for l, form := range nearForms {
				n := []int{1, 0, 50, 7000}[(i+j+l)%4]
				rules = append(rules, rule{
					k.section, fmt.Sprintf("%s %s on %s", k.name, form.name, s.name), s.ranks,
					s.on(k.test(n, form)),
				})
			}
		}
	}
	return rules
}

// neighborErrorRules have the errors of arguments, on one rank that is its own neighbour on both sides.
func neighborErrorRules() []rule {
	self := func(f func(c *Comm) error) func(c *Comm) error { return inGrid([]int{1}, ring, f) }
	one, two := []int64{1}, []int64{1, 2}
	return []rule{
		{"8.6", "no topology", 1, func(c *Comm) error {
			return fails("NeighborAllgather", NeighborAllgather(c, one, two), ErrTopology)
		}},
		{"8.6", "a freed communicator", 1, func(c *Comm) error {
			d, err := c.CreateCart([]int{1}, ring, false)
			if err != nil {
				return err
			}
			return errors.Join(d.Free(), fails("NeighborAllgather", NeighborAllgather(d, one, two), ErrComm))
		}},
		{"8.6.1", "parts that are not equal", 1, self(func(c *Comm) error {
			return fails("NeighborAllgather", NeighborAllgather(c, one, make([]int64, 3)), ErrCount)
		})},
		{"8.6.1", "buffers that overlap", 1, self(func(c *Comm) error {
			return fails("NeighborAllgather", NeighborAllgather(c, two[:1], two), ErrBuffer)
		})},
		{"8.6.1", "more to itself than it receives", 1, self(func(c *Comm) error {
			return fails("NeighborAllgather", NeighborAllgather(c, make([]int64, 3), two), ErrCount)
		})},
		{"8.6.1", "counts for other neighbours", 1, self(func(c *Comm) error {
			return fails("NeighborAllgatherv", NeighborAllgatherv(c, one, two, []int{1}, nil), ErrCount)
		})},
		{"8.6.1", "a part outside of the buffer", 1, self(func(c *Comm) error {
			return fails("NeighborAllgatherv", NeighborAllgatherv(c, one, two, []int{1, 1}, []int{0, 2}), ErrCount)
		})},
		{"8.6.2", "a negative count", 1, self(func(c *Comm) error {
			return fails("v", NeighborAlltoallv(c, two, []int{-1, 1}, nil, make([]int64, 2), []int{1, 1}, nil), ErrCount)
		})},
		{"8.6.2", "parts for other neighbours", 1, self(func(c *Comm) error {
			return fails("NeighborAlltoallw", NeighborAlltoallw(c, []Part{PartOf(one)}, nil), ErrCount)
		})},
		{"8.6.2", "a part outside of its slice", 1, self(func(c *Comm) error {
			bad := StridedPart(one, Strided{2, 1, 1})
			return fails("NeighborAlltoallw", NeighborAlltoallw(c, []Part{bad, bad}, []Part{{}, {}}), ErrCount)
		})},
		{"8.6.2", "elements that cannot travel", 1, self(func(c *Comm) error {
			bad := PartOf([]string{"a"})
			return errors.Join(fails("w", NeighborAlltoallw(c, []Part{bad, bad}, []Part{{}, {}}), ErrType),
				fails("NeighborAlltoall", NeighborAlltoall(c, []string{"a", "b"}, make([]string, 2)), ErrType))
		})},
		{"8.7.1", "an error of the start", 1, self(func(c *Comm) error {
			r, err := IneighborAllgather(c, one, make([]int64, 3))
			return errors.Join(fails("IneighborAllgather", err, ErrCount), is("null", r.Null(), true))
		})},
		{"8.8.1", "an error of the init", 1, self(func(c *Comm) error {
			_, err := NeighborAllgatherInit(c, one, make([]int64, 3))
			return fails("NeighborAllgatherInit", err, ErrCount)
		})},
	}
}
