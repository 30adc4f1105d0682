package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// lastingCase is a persistent collective and what waits for the same. Both leave their result in recv.
type lastingCase struct {
	name string
	make func(c *Comm, send, recv []int) (Request, error)
	now  func(c *Comm, send, recv []int) error
}

// growing gives rank i i+1 of n elements; where they begin is left out.
func growing(n int) []int {
	counts := make([]int, n)
	for i := range counts {
		counts[i] = i + 1
	}
	return counts
}

// partsOfRanks are equal parts of buf, in the order of the ranks.
func partsOfRanks(buf []int, n int) []Part {
	parts := make([]Part, n)
	for i := range parts {
		parts[i] = PartOf(buf[i*len(buf)/n : (i+1)*len(buf)/n])
	}
	return parts
}

// lastingCases have buffers of 4 elements for each rank, of which they use what they need.
var lastingCases = []lastingCase{
	{
		"Bcast", func(c *Comm, send, recv []int) (Request, error) { return BcastInit(c, recv, 1) },
		func(c *Comm, send, recv []int) error { return Bcast(c, recv, 1) },
	},
	{
		"Gather", func(c *Comm, send, recv []int) (Request, error) { return GatherInit(c, send[:2], recv[:2*c.Size()], 0) },
		func(c *Comm, send, recv []int) error { return Gather(c, send[:2], recv[:2*c.Size()], 0) },
	},
	{"Gatherv", func(c *Comm, send, recv []int) (Request, error) {
		return GathervInit(c, send[:c.Rank()+1], recv, growing(c.Size()), nil, 1)
	}, func(c *Comm, send, recv []int) error {
		return Gatherv(c, send[:c.Rank()+1], recv, growing(c.Size()), nil, 1)
	}},
	{
		"Scatter", func(c *Comm, send, recv []int) (Request, error) { return ScatterInit(c, send, recv[:4], 1) },
		func(c *Comm, send, recv []int) error { return Scatter(c, send, recv[:4], 1) },
	},
	{"Scatterv", func(c *Comm, send, recv []int) (Request, error) {
		return ScattervInit(c, send, growing(c.Size()), nil, recv[:c.Rank()+1], 0)
	}, func(c *Comm, send, recv []int) error {
		return Scatterv(c, send, growing(c.Size()), nil, recv[:c.Rank()+1], 0)
	}},
	{
		"Allgather", func(c *Comm, send, recv []int) (Request, error) { return AllgatherInit(c, send[:4], recv) },
		func(c *Comm, send, recv []int) error { return Allgather(c, send[:4], recv) },
	},
	{"Allgatherv", func(c *Comm, send, recv []int) (Request, error) {
		return AllgathervInit(c, send[:c.Rank()+1], recv, growing(c.Size()), nil)
	}, func(c *Comm, send, recv []int) error {
		return Allgatherv(c, send[:c.Rank()+1], recv, growing(c.Size()), nil)
	}},
	{"Alltoall", AlltoallInit[int], Alltoall[int]},
	{"Alltoallv", func(c *Comm, send, recv []int) (Request, error) {
		out, in := someToEach(c)
		return AlltoallvInit(c, send, out, nil, recv, in, nil)
	}, func(c *Comm, send, recv []int) error {
		out, in := someToEach(c)
		return Alltoallv(c, send, out, nil, recv, in, nil)
	}},
	{"Alltoallw", func(c *Comm, send, recv []int) (Request, error) {
		return AlltoallwInit(c, partsOfRanks(send, c.Size()), partsOfRanks(recv, c.Size()))
	}, Alltoall[int]},
	{
		"Reduce", func(c *Comm, send, recv []int) (Request, error) { return ReduceInit(c, send, recv, Sum, 1) },
		func(c *Comm, send, recv []int) error { return Reduce(c, send, recv, Sum, 1) },
	},
	{
		"Allreduce", func(c *Comm, send, recv []int) (Request, error) { return AllreduceInit(c, send, recv, Max) },
		func(c *Comm, send, recv []int) error { return Allreduce(c, send, recv, Max) },
	},
	{"ReduceScatterBlock", func(c *Comm, send, recv []int) (Request, error) {
		return ReduceScatterBlockInit(c, send, recv[:4], Sum)
	}, func(c *Comm, send, recv []int) error { return ReduceScatterBlock(c, send, recv[:4], Sum) }},
	{"ReduceScatter", func(c *Comm, send, recv []int) (Request, error) {
		counts := growing(c.Size())
		return ReduceScatterInit(c, send[:triangle(c.Size())], recv[:c.Rank()+1], counts, Sum)
	}, func(c *Comm, send, recv []int) error {
		return ReduceScatter(c, send[:triangle(c.Size())], recv[:c.Rank()+1], growing(c.Size()), Sum)
	}},
	{
		"Scan", func(c *Comm, send, recv []int) (Request, error) { return ScanInit(c, send, recv, Sum) },
		func(c *Comm, send, recv []int) error { return Scan(c, send, recv, Sum) },
	},
	{
		"Exscan", func(c *Comm, send, recv []int) (Request, error) { return ExscanInit(c, send, recv, Sum) },
		func(c *Comm, send, recv []int) error { return Exscan(c, send, recv, Sum) },
	},
}

func triangle(n int) int { return n * (n + 1) / 2 }

// someToEach are lengths for an Alltoallv: the two ranks of a pair send each other as many as the lower rank says.
func someToEach(c *Comm) (out, in []int) {
	out = make([]int, c.Size())
	for i := range out {
		out[i] = 1 + (c.Rank()+i)%3
	}
	return out, out
}

// filled has what a rank sends in a round.
func filled(c *Comm, round int, b []int) {
	for i := range b {
		b[i] = 1000*round + 100*c.Rank() + i
	}
}

// TestPersistentCollectives (6.13): each start gives what the collective that waits gives, with what the buffers hold
// then.
func TestPersistentCollectives(t *testing.T) {
	for _, k := range lastingCases {
		t.Run(k.name, func(t *testing.T) {
			for n := 2; n <= 5; n++ {
				err := Run(n, func(c *Comm) error { return k.check(c) })
				if err != nil {
					t.Errorf("%d ranks: %v", n, err)
				}
			}
		})
	}
}

func (k *lastingCase) check(c *Comm) error {
	send, recv, want := make([]int, 4*c.Size()), make([]int, 4*c.Size()), make([]int, 4*c.Size())
	r, err := k.make(c, send, recv)
	if err != nil {
		return err
	}
	for round := range 3 {
		filled(c, round, send)
		filled(c, round+7, recv)
		copy(want, recv)
		if err := errors.Join(r.Start(), k.now(c, send, want)); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		if !slices.Equal(recv, want) {
			return fmt.Errorf("rank %d, round %d: %v, want %v", c.Rank(), round, recv, want)
		}
	}
	return r.Free()
}

// lastingRules are those of persistent collectives (6.13).
func lastingRules() []rule {
	return []rule{
		{"6.13", "starts in another order than that of the making", 3, func(c *Comm) error {
			a, b := []int{c.Rank()}, []int{10 * c.Rank()}
			ra, err := BcastInit(c, a, 1)
			rb, bad := BcastInit(c, b, 2)
			if err = errors.Join(err, bad); err != nil {
				return err
			}
			rs := []Request{ra, rb}
			if c.Rank() == 0 {
				rs = []Request{rb, ra}
			}
			if err := errors.Join(StartAll(rs), Waitall(rs, nil)); err != nil {
				return err
			}
			return errors.Join(is("a", a[0], 1), is("b", b[0], 20), ra.Free(), rb.Free())
		}},
		{"6.13.1", "a barrier", 2, func(c *Comm) error {
			r, err := c.BarrierInit()
			if err != nil {
				return err
			}
			if c.Rank() == 0 {
				err := errors.Join(r.Start(), Send(c, []int{1}, 1, 0))
				_, bad := r.Wait()
				return errors.Join(err, bad, r.Free())
			}
			_, err = Recv(c, make([]int, 1), 0, 0)
			err = errors.Join(err, r.Start())
			_, bad := r.Wait()
			return errors.Join(err, bad, r.Free())
		}},
		{"6.13", "a start while it is active", 2, func(c *Comm) error {
			r, err := c.BarrierInit()
			if err != nil {
				return err
			}
			err = errors.Join(r.Start(), fails("Start", r.Start(), ErrRequest))
			_, bad := r.Wait()
			return errors.Join(err, bad, r.Free())
		}},
		{"6.13.2", "a bad root, when it is started", 2, func(c *Comm) error {
			r, err := BcastInit(c, []int{1}, 5)
			if err != nil {
				return err
			}
			err = r.Start()
			if err == nil {
				_, err = r.Wait()
			}
			return errors.Join(fails("Start", err, ErrRoot), c.Barrier(), r.Free())
		}},
		{"6.13", "a freed communicator", 1, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			_, bad := BcastInit(func() *Comm { err = d.Free(); return d }(), []int{1}, 0)
			return errors.Join(err, fails("BcastInit", bad, ErrComm))
		}},
	}
}

// alltoallwRules have parts of different types, with holes (6.8, 6.12.6).
func alltoallwRules() []rule {
	return []rule{
		{"6.8", "a column to one rank, bytes to the other", 2, func(c *Comm) error {
			m := []int32{1, 2, 3, 4, 5, 6} // two columns of three
			for i := range m {
				m[i] += int32(10 * c.Rank())
			}
			col := StridedPart(m, Strided{3, 1, 2})
			text := []byte{byte(c.Rank()), 'x'}
			row, got := make([]int32, 3), make([]byte, 2)
			send, recv := []Part{col, PartOf(text)}, []Part{PartOf(row), PartOf(got)}
			if c.Rank() == 1 {
				recv = []Part{PartOf(got), {}}
				send = []Part{PartOf(row[:0]), {}}
				recv[0] = PartOf(got)
			} else {
				recv[1] = Part{}
			}
			err := Alltoallw(c, send, recv)
			if c.Rank() == 0 {
				return errors.Join(err, listIs("column", row, []int32{1, 3, 5}))
			}
			return errors.Join(err, listIs("text", got, []byte{0, 'x'}))
		}},
		{"6.8", "in place", 3, func(c *Comm) error {
			b := []int{10 * c.Rank(), 10*c.Rank() + 1, 10*c.Rank() + 2}
			err := Alltoallw(c, nil, partsOfRanks(b, 3))
			return errors.Join(err, listIs("parts", b, []int{c.Rank(), 10 + c.Rank(), 20 + c.Rank()}))
		}},
		{"6.12.6", "that does not wait", 2, func(c *Comm) error {
			a, b := []int{c.Rank(), 5}, make([]int, 2)
			r, err := Ialltoallw(c, partsOfRanks(a, 2), partsOfRanks(b, 2))
			if err != nil {
				return err
			}
			_, err = r.Wait()
			want := []int{0, 1}
			if c.Rank() == 1 {
				want = []int{5, 5}
			}
			return errors.Join(err, listIs("parts", b, want))
		}},
		{"6.8", "too few parts", 2, func(c *Comm) error {
			err := Alltoallw(c, make([]Part, 1), make([]Part, 2))
			return errors.Join(fails("Alltoallw", err, ErrCount), c.Barrier())
		}},
		{"6.8", "strings", 1, func(c *Comm) error {
			return fails("Alltoallw", Alltoallw(c, []Part{PartOf([]string{""})}, []Part{{}}), ErrType)
		}},
	}
}
