package mpi

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
)

// TestAllocations: the hot path allocates nothing, expected and unexpected, for goroutines and light-weight threads.
func TestAllocations(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	must(t, 1, func(c *Comm) error {
		return errors.Join(allocations(t, c, "goroutine"), inThread(c, func() error { return allocations(t, c, "thread") }))
	})
}

func allocations(t *testing.T, c *Comm, who string) error {
	const tag = 5
	out, in := make([]float64, 8), make([]float64, 8)
	big, bigIn := make([]byte, 4000), make([]byte, 4000)
	rs := make([]Request, 2)
	counts := []int{len(out)}
	var failed error
	note := func(err error) {
		if err != nil && failed == nil {
			failed = err
		}
	}
	kept := make([]Request, 2)
	for i, start := range []func(*Comm, []float64, int, int) (Request, error){RecvInit[float64], SendInit[float64]} {
		var err error
		kept[i], err = start(c, in, 0, tag+1)
		note(err)
	}
	steps := map[string]func(){
		"send unexpected, recv": func() {
			note(Send(c, out, 0, tag))
			note(second(Recv(c, in, 0, tag)))
		},
		"send long unexpected, recv": func() {
			note(Send(c, big, 0, tag))
			c.Proc().Server().Poll()
			note(second(Recv(c, bigIn, 0, tag)))
		},
		"irecv, send expected, wait": func() {
			r, err := Irecv(c, in, 0, tag)
			note(err)
			note(Send(c, out, 0, tag))
			note(second(r.Wait()))
		},
		"isend, probe, irecv, wait, wait": func() {
			s, err := Isend(c, out, 0, tag)
			note(err)
			note(third(c.Iprobe(0, tag)))
			r, err := Irecv(c, in, 0, tag)
			note(err)
			note(second(r.Wait()))
			note(second(s.Wait()))
		},
		"isend, irecv any, waitall": func() {
			var err error
			rs[0], err = Isend(c, out, 0, tag)
			note(err)
			rs[1], err = Irecv(c, in, AnySource, AnyTag)
			note(err)
			note(Waitall(rs, nil))
		},
		"persistent, waitall": func() {
			note(StartAll(kept))
			note(Waitall(kept, nil))
		},
		"sendrecv": func() { note(second(Sendrecv(c, out, 0, tag, in, 0, tag))) },
		"test": func() {
			r, err := Irecv(c, in, 0, tag)
			note(err)
			note(Send(c, out, 0, tag))
			for {
				_, ok, err := r.Test()
				if note(err); ok {
					break
				}
			}
		},
		"barrier, bcast, allreduce": func() {
			note(c.Barrier())
			note(Bcast(c, out, 0))
			note(Allreduce(c, out, in, Sum))
			note(Reduce(c, out, in, Sum, 0))
			note(Alltoall(c, out, in))
			note(Alltoallv(c, out, counts, nil, in, counts, nil))
			note(Scan(c, out, in, Sum))
			note(Exscan(c, out, in, Sum))
			note(ReduceScatterBlock(c, out, in, Sum))
			note(ReduceScatter(c, out, in, counts, Sum))
			note(ReduceLocal(out, in, Sum))
		},
	}
	var errs []error
	for name, step := range steps {
		step()
		if n := testing.AllocsPerRun(200, step); n != 0 {
			errs = append(errs, fmt.Errorf("%s: %s: %v allocations", who, name, n))
		}
	}
	return errors.Join(append(errs, failed)...)
}

// TestAllocationsBetweenRanks: the same between two ranks, where one waits for the other.
func TestAllocationsBetweenRanks(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	const runs = 300
	must(t, 2, func(c *Comm) error {
		b, peer := make([]int, 4), 1-c.Rank()
		var failed error
		step := func() {
			var errs [2]error
			if c.Rank() == 0 {
				errs[0], errs[1] = Send(c, b, peer, 0), second(Recv(c, b, peer, 0))
			} else {
				errs[0], errs[1] = second(Recv(c, b, peer, 0)), Send(c, b, peer, 0)
			}
			if errs[0] != nil || errs[1] != nil {
				failed = errors.Join(errs[:]...)
			}
		}
		if c.Rank() == 1 { // the measurement counts the whole process, so one rank does it
			for range runs + 101 {
				step()
			}
			return failed
		}
		for range 100 {
			step()
		}
		n := testing.AllocsPerRun(runs, step)
		if n != 0 && failed == nil {
			return fmt.Errorf("%v allocations", n)
		}
		return failed
	})
}

// TestAllocationsFromTwoPlaces: a collective that sends from two places allocates nothing.
func TestAllocationsFromTwoPlaces(t *testing.T) {
	if invariants.Enabled {
		t.Skip("checking builds allocate")
	}
	if os.Getenv("GOLCI_COLLECTIVES") == "memory" {
		t.Skip("ranks that sleep at once are woken by notices, which are allocated")
	}
	const runs, size = 100, 4
	must(t, size, func(c *Comm) error {
		own, all, lens := make([]int, 3), make([]int, 3*size), counts(c, 3)
		var failed error
		step := func() {
			err := errors.Join(Gather(c, own, all, 0), Scatter(c, all, own, 1), Allgather(c, own, all), c.Barrier(),
				Scan(c, own, all, Sum), Exscan(c, own, all, Sum), ReduceScatterBlock(c, all, own, Sum),
				ReduceScatter(c, all, own, lens, Sum), Allgatherv(c, own, all, lens, nil), c.Barrier())
			if err != nil {
				failed = err
			}
		}
		for range runs {
			step()
		}
		if c.Rank() == 2 { // the measurement counts the whole process, so one rank does it
			if n := testing.AllocsPerRun(runs, step); n != 0 && failed == nil {
				return fmt.Errorf("%v allocations", n)
			}
			return failed
		}
		for range runs + 1 {
			step()
		}
		return failed
	})
}
