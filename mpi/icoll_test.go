package mpi

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
)

// pendingCall is a collective that has been started, and what it must have given at its end.
type pendingCall struct {
	r     Request
	check func() error
}

// starters start collectives with contributions that depend on the rank and on i, the number of the call, and of n
// elements.
var starters = []func(c *Comm, i, n int) (pendingCall, error){
	func(c *Comm, _, _ int) (p pendingCall, err error) {
		p.r, err = c.Ibarrier()
		p.check = func() error { return nil }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		root := i % c.Size()
		buf := make([]element, n)
		if c.Rank() == root {
			buf = fill(root, i, n)
		}
		p.r, err = Ibcast(c, buf, root)
		p.check = func() error { return equals(buf, fill(root, i, n)) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		in, out, want := sums(c, i, n)
		p.r, err = Iallreduce(c, in, out, Sum)
		p.check = func() error { return equals(out, want) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		in, out, want := sums(c, i, n)
		root := i % c.Size()
		p.r, err = Ireduce(c, in, out, Sum, root)
		p.check = func() error {
			if c.Rank() != root {
				return nil
			}
			return equals(out, want)
		}
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		out := make([]element, n*c.Size())
		p.r, err = Iallgather(c, fill(c.Rank(), i, n), out)
		p.check = func() error { return equals(out, gathered(c, i, n)) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		root := i % c.Size()
		out := make([]element, n*c.Size())
		p.r, err = Igather(c, fill(c.Rank(), i, n), out, root)
		p.check = func() error {
			if c.Rank() != root {
				return nil
			}
			return equals(out, gathered(c, i, n))
		}
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		root := i % c.Size()
		out := make([]element, n)
		p.r, err = Iscatter(c, fill(root, i, n*c.Size()), out, root)
		p.check = func() error { return equals(out, fill(root, i+n*c.Rank(), n)) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		out := make([]element, n*c.Size())
		p.r, err = Ialltoall(c, fill(c.Rank(), i, n*c.Size()), out)
		p.check = func() error {
			var want []element
			for r := range c.Size() {
				want = append(want, fill(r, i+n*c.Rank(), n)...)
			}
			return equals(out, want)
		}
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		root, counts, want := i%c.Size(), risingCounts(c, i, n), rising(c, i, n)
		out := make([]element, len(want))
		p.r, err = Igatherv(c, fill(c.Rank(), i, counts[c.Rank()]), out, counts, nil, root)
		clear(counts) // they are not used any more
		p.check = func() error {
			if c.Rank() != root {
				return nil
			}
			return equals(out, want)
		}
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		root, counts := i%c.Size(), risingCounts(c, i, n)
		want := fill(c.Rank(), i, counts[c.Rank()])
		out := make([]element, len(want))
		p.r, err = Iscatterv(c, rising(c, i, n), counts, nil, out, root)
		clear(counts)
		p.check = func() error { return equals(out, want) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		counts, want := risingCounts(c, i, n), rising(c, i, n)
		out := make([]element, len(want))
		p.r, err = Iallgatherv(c, fill(c.Rank(), i, counts[c.Rank()]), out, counts, nil)
		clear(counts)
		p.check = func() error { return equals(out, want) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		me := c.Rank()
		scounts, rcounts := make([]int, c.Size()), make([]int, c.Size())
		var in, want []element
		for r := range c.Size() {
			scounts[r], rcounts[r] = (me+2*r)%3*n/2, (r+2*me)%3*n/2
			in, want = append(in, fill(me, i+r, scounts[r])...), append(want, fill(r, i+me, rcounts[r])...)
		}
		out := make([]element, len(want))
		p.r, err = Ialltoallv(c, in, scounts, nil, out, rcounts, nil)
		clear(scounts)
		clear(rcounts)
		p.check = func() error { return equals(out, want) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		in, out, _ := sums(c, i, n)
		p.r, err = Iscan(c, in, out, Sum)
		p.check = func() error { return equals(out, sumsOf(c.Rank()+1, i, n)) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		in, out, _ := sums(c, i, n)
		p.r, err = Iexscan(c, in, out, Sum)
		p.check = func() error { return equals(out, sumsOf(c.Rank(), i, n)) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		in, _, want := sums(c, i, n*c.Size())
		out := make([]int, n)
		p.r, err = IreduceScatterBlock(c, in, out, Sum)
		p.check = func() error { return equals(out, want[n*c.Rank():][:n]) }
		return p, err
	},
	func(c *Comm, i, n int) (p pendingCall, err error) {
		counts := risingCounts(c, i, n)
		at, all := 0, 0
		for r, k := range counts {
			if all += k; r < c.Rank() {
				at += k
			}
		}
		in, _, want := sums(c, i, all)
		out := make([]int, counts[c.Rank()])
		p.r, err = IreduceScatter(c, in, out, counts, Sum)
		clear(counts)
		p.check = func() error { return equals(out, want[at:][:len(out)]) }
		return p, err
	},
}

// risingCounts are lengths of parts, which differ, and rising such parts of all ranks.
func risingCounts(c *Comm, i, n int) []int {
	counts := make([]int, c.Size())
	for r := range counts {
		counts[r] = n * ((i + r) % 3) / 2
	}
	return counts
}

func rising(c *Comm, i, n int) (all []element) {
	for r, k := range risingCounts(c, i, n) {
		all = append(all, fill(r, i, k)...)
	}
	return all
}

func equals[T comparable](got, want []T) error {
	if !slices.Equal(got, want) {
		return fmt.Errorf("wrong content of %d elements", len(want))
	}
	return nil
}

// gathered are n elements of each rank.
func gathered(c *Comm, i, n int) (all []element) {
	for r := range c.Size() {
		all = append(all, fill(r, i, n)...)
	}
	return all
}

// sums are a contribution, room for the result, and the sum.
func sums(c *Comm, i, n int) (in, out, want []int) {
	in, out = make([]int, n), make([]int, n)
	for k := range in {
		in[k] = c.Rank() + i + k
	}
	return in, out, sumsOf(c.Size(), i, n)
}

// sumsOf are the sums of the contributions of that many ranks.
func sumsOf(ranks, i, n int) []int {
	want := make([]int, n)
	for k := range want {
		want[k] = ranks*(ranks-1)/2 + ranks*(i+k)
	}
	return want
}

// TestOverlappingCollectives: 8 threads of each rank start collectives on one communicator, each when the one before
// it has been started, so that all ranks start them in one order. They wait for them in any order, and blocking ones
// come between.
func TestOverlappingCollectives(t *testing.T) {
	const threads, calls = 8, 12
	seed, sizes := source(t), []int{1, 2, 3, 5}
	if invariants.Race { // the threads of a rank meet each other, however many ranks there are
		sizes = []int{3}
	}
	for _, size := range sizes {
		for _, k := range callers {
			t.Run(fmt.Sprintf("%d/%s", size, k.name), func(t *testing.T) {
				must(t, size, func(c *Comm) error {
					rnd := random(seed, size) // the same at all ranks
					order := make([]int, threads*calls)
					lens := make([]int, len(order))
					for i := range order {
						order[i], lens[i] = rnd.IntN(len(starters)), vectorLengths[rnd.IntN(len(vectorLengths))]/c.Size()
					}
					turns := newTurns(len(order))
					var errs []error
					var ends []func() error
					for th := range threads {
						own := rand.New(rand.NewPCG(seed, uint64(100*c.Rank()+th)))
						ends = append(ends, k.run(c, func() error {
							return overlap8(c, own, turns, th, order, lens)
						}))
					}
					for _, end := range ends {
						errs = append(errs, end())
					}
					return errors.Join(errs...)
				})
			})
		}
	}
}

// overlap8 starts every eighth call, and ends some of them in between.
func overlap8(c *Comm, rnd *rand.Rand, turns *turns, th int, order, lens []int) error {
	const threads = 8
	var open []pendingCall
	end := func() error {
		k := rnd.IntN(len(open))
		p := open[k]
		open = slices.Delete(open, k, k+1)
		if _, err := p.r.Wait(); err != nil {
			return err
		}
		return p.check()
	}
	for i := th; i < len(order); i += threads {
		if !turns.wait(i) {
			return nil
		}
		p, err := starters[order[i]](c, i, lens[i])
		if err == nil && order[i] == 0 {
			err = reduces(c, 1, c.Size(), Sum)
		}
		if err != nil {
			turns.fail(i)
			return fmt.Errorf("call %d: %w", i, err)
		}
		turns.done(i)
		for open = append(open, p); len(open) > rnd.IntN(4); {
			if err := end(); err != nil {
				return fmt.Errorf("up to call %d: %w", i, err)
			}
		}
	}
	for len(open) > 0 {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// turns has threads of one rank do something one after the other.
type turns struct {
	open []chan struct{}
}

func newTurns(n int) *turns {
	t := new(turns)
	for range n + 1 {
		t.open = append(t.open, make(chan struct{}, 1))
	}
	t.done(-1)
	return t
}

// wait waits for turn i; false if an earlier one has failed.
func (t *turns) wait(i int) bool {
	_, ok := fult.Recv(nil, t.open[i])
	return ok
}

// done opens the next turn.
func (t *turns) done(i int) { t.open[i+1] <- struct{}{} }

// fail ends all turns from the one after i on.
func (t *turns) fail(i int) {
	for _, c := range t.open[i+1:] {
		close(c)
	}
}

// TestStartDoesNotWait: a start returns though no other rank has started, and messages go between start and wait.
func TestStartDoesNotWait(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		if c.Rank() == 0 {
			p, err := starters[2](c, 1, 70_000)
			if err != nil {
				return err
			}
			if _, ok, err := p.r.Test(); ok || err != nil {
				return fmt.Errorf("it is done before the others have started: %v, %w", ok, err)
			}
			for r := 1; r < 3; r++ {
				if err := Send(c, one(), r, 1); err != nil {
					return err
				}
			}
			if _, err := p.r.Wait(); err != nil {
				return err
			}
			return p.check()
		}
		if _, err := Recv(c, one(), 0, 1); err != nil {
			return err
		}
		p, err := starters[2](c, 1, 70_000)
		if err != nil {
			return err
		}
		rs := []Request{p.r}
		if err := Waitall(rs, nil); err != nil {
			return err
		}
		return p.check()
	})
}

// TestOverlapFails: a start that fails ends the calls after it on all ranks, and those before it give their results.
func TestOverlapFails(t *testing.T) {
	for size := 2; size <= 4; size++ {
		must(t, size, func(c *Comm) error {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			before, err := starters[2](d, 1, 1000)
			if err != nil {
				return err
			}
			root := 0
			if d.Rank() == 1 {
				root = -1
			}
			bad, badErr := Ibcast(d, make([]int, 10), root)
			after, afterErr := d.Ibarrier()
			if _, err := before.r.Wait(); err != nil {
				return fmt.Errorf("the call before: %w", err)
			}
			if badErr == nil && d.Rank() != 0 { // the root may be done before it is told
				_, badErr = bad.Wait()
			}
			if afterErr == nil {
				_, afterErr = after.Wait()
			}
			switch {
			case d.Rank() == 1 && !errors.Is(badErr, ErrRoot):
				return fmt.Errorf("the bad call: %w", badErr)
			case d.Rank() > 1 && badErr != nil && !errors.Is(badErr, ErrCollective):
				return fmt.Errorf("the bad call elsewhere: %w", badErr)
			}
			return errors.Join(before.check(), wants(ErrCollective, afterErr))
		})
	}
}

// TestOverlapMismatch: ranks that start different collectives are told so, however they wait.
func TestOverlapMismatch(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		var rs [2]Request
		if d.Rank() == 0 {
			rs[0], err = d.Ibarrier()
		} else {
			rs[0], err = Ibcast(d, one(), 0)
		}
		if err == nil {
			rs[1], err = d.Ibarrier()
		}
		if err == nil {
			err = Waitall(rs[:], nil)
		}
		if !errors.Is(err, ErrMismatch) {
			return fmt.Errorf("got %w", err)
		}
		return nil
	})
}

// TestStartsWrap: calls that do not wait overlap where the numbers in tags begin anew.
func TestStartsWrap(t *testing.T) {
	for n := 1; n <= 4; n++ {
		bits := algorithm.NumberBits(n)
		for _, start := range []uint64{1<<bits - 4, 1<<(bits-1) - 4, 1<<(bits-2) - 4} {
			must(t, n, func(c *Comm) error {
				if err := c.core().SkipTo(start); err != nil {
					return err
				}
				var open []pendingCall
				for i := range 3 * len(starters) {
					p, err := starters[i%len(starters)](c, i, 50)
					if err != nil {
						return err
					}
					open = append(open, p)
				}
				for _, p := range slices.Backward(open) {
					if _, err := p.r.Wait(); err != nil {
						return err
					}
					if err := p.check(); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
}

// TestStartAllocations: a start and its wait allocate nothing.
func TestStartAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	must(t, 1, func(c *Comm) error {
		in, out, counts := make([]int, 4), make([]int, 4), []int{4}
		var failed error
		note := func(err error) {
			if err != nil {
				failed = err
			}
		}
		step := func() {
			b, err := c.Ibarrier()
			note(err)
			r, err := Iallreduce(c, in, out, Sum)
			note(err)
			note(second(b.Wait()))
			note(second(r.Wait()))
			s, err := Iscan(c, in, out, Sum)
			note(err)
			d, err := IreduceScatter(c, in, out, counts, Sum)
			note(err)
			g, err := Iallgatherv(c, in, out, counts, nil)
			note(err)
			note(second(s.Wait()))
			note(second(d.Wait()))
			note(second(g.Wait()))
		}
		step()
		if n := testing.AllocsPerRun(200, step); n != 0 && failed == nil {
			return fmt.Errorf("%v allocations", n)
		}
		return failed
	})
}
