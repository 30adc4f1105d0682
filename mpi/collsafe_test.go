package mpi

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// failedIn tells whether err says that collectives have ended with the given call on a rank.
func failedIn(err error, rank int, call uint64, kind string) error {
	var e *CollectiveError
	if !errors.As(err, &e) || !errors.Is(err, ErrCollective) || e.Rank != rank || e.Call != call || e.Kind != kind {
		return fmt.Errorf("got %v, want a CollectiveError of %s, call %d, on rank %d", err, kind, call, rank)
	}
	return nil
}

// TestFailedCollective: a rank that refuses a call leaves the ranks out of step. The others must not get wrong
// results from later calls, but an error that tells which call has failed on which rank.
func TestFailedCollective(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		must(t, n, func(c *Comm) error {
			if err := reduces(c, c.Rank(), n*(n-1)/2, Sum); err != nil { // call 1
				return err
			}
			in, out := []int{100 + c.Rank()}, []int{0}
			if c.Rank() == 0 {
				out = nil // forgotten
			}
			err := Reduce(c, in, out, Sum, 0) // call 2
			if c.Rank() == 0 && !errors.Is(err, ErrCount) {
				return fmt.Errorf("call 2: %v", err)
			}
			if c.Rank() != 0 && err != nil {
				if e := failedIn(err, 0, 2, "Reduce"); e != nil || !errors.Is(err, ErrCount) {
					return fmt.Errorf("call 2: %w, %w", e, err)
				}
			}
			in, out = []int{c.Rank()}, []int{0}
			for call := 3; ; call++ { // a rank that only sends may return before the notice comes
				err := Reduce(c, in, out, Sum, 0)
				if err != nil {
					if e := failedIn(err, 0, 2, "Reduce"); e != nil || !errors.Is(err, ErrCount) {
						return fmt.Errorf("call %d: %w, %w", call, e, err)
					}
					return nil
				}
				if c.Rank() == 0 {
					return fmt.Errorf("call %d succeeded on rank 0: %d", call, out[0])
				}
			}
		})
	}
}

// TestFailureWakesWaiters: ranks that wait in a collective that cannot end get the error, whatever they wait for.
func TestFailureWakesWaiters(t *testing.T) {
	big := make([]float64, 50_000) // by rendezvous
	calls := map[string]func(c *Comm, bad bool) error{
		"Barrier": func(c *Comm, bad bool) error {
			if bad {
				return Bcast(c, one(), 99)
			}
			return c.Barrier()
		},
		"Allreduce": func(c *Comm, bad bool) error {
			if bad {
				return Allreduce(c, one(), nil, Sum)
			}
			return Allreduce(c, one(), one(), Sum)
		},
		"Bcast": func(c *Comm, bad bool) error {
			if bad {
				return Bcast(c, one(), -1)
			}
			return Bcast(c, slices.Clone(big), 0)
		},
		"Gather": func(c *Comm, bad bool) error {
			if bad {
				return Gather(c, one(), nil, 0)
			}
			return Gather(c, big, nil, 0)
		},
		"Allgather": func(c *Comm, bad bool) error {
			if bad {
				return Allgather(c, one(), nil)
			}
			return Allgather(c, big, make([]float64, len(big)*c.Size()))
		},
		"Alltoallv": func(c *Comm, bad bool) error {
			if bad {
				return Alltoallv(c, one(), nil, nil, one(), nil, nil)
			}
			counts := make([]int, c.Size())
			counts[0] = 1
			if c.Rank() == 0 {
				counts = slices.Repeat([]int{1}, c.Size())
			}
			return Alltoallv(c, make([]int, 9), counts, nil, make([]int, 9), counts, nil)
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			must(t, 3, func(c *Comm) error {
				return everyWayInTurn(c, func(d *Comm) error {
					bad := d.Rank() == 0
					if bad {
						time.Sleep(30 * time.Millisecond) // so that the others wait: a delay, not an assumption
					}
					err := call(d, bad)
					if bad {
						return refused(err)
					}
					if err == nil { // it was done with its part
						err = d.Barrier()
					}
					var e *CollectiveError
					if !errors.As(err, &e) || e.Rank != 0 || e.Call != 1 {
						return fmt.Errorf("%s: got %v", name, err)
					}
					return nil
				})
			})
		})
	}
}

// refused tells whether a call gave an error of its own.
func refused(err error) error {
	if err == nil || errors.Is(err, ErrCollective) {
		return fmt.Errorf("got %v, want an error of an argument", err)
	}
	return nil
}

// everyWayInTurn runs f as each kind of caller, each on a communicator of its own.
func everyWayInTurn(c *Comm, f func(d *Comm) error) error {
	for _, k := range callers {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if err := k.run(c, func() error { return f(d) })(); err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
	}
	return nil
}

// TestAfterFailure: of a communicator whose collectives have ended, messages still work, and so do other
// communicators; none can be made of it, and it can be freed.
func TestAfterFailure(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		before, err := c.Dup()
		if err != nil {
			return err
		}
		d, err := c.Dup()
		if err != nil {
			return err
		}
		if d.Rank() == 1 {
			if err := wants(ErrRoot, Bcast(d, one(), 7)); err != nil {
				return err
			}
		}
		for _, call := range []func() error{
			d.Barrier,
			func() error { return second(d.Dup()) },
			func() error { return second(d.Split(0, 0)) },
		} {
			if err := failedIn(call(), 1, 1, "Bcast"); err != nil {
				return err
			}
		}
		right, left := (d.Rank()+1)%3, (d.Rank()+2)%3
		in := one()
		if _, err := Sendrecv(d, []int{d.Rank()}, right, 5, in, left, 5); err != nil || in[0] != left {
			return fmt.Errorf("sendrecv: %v, %v", in, err)
		}
		if err := d.Free(); err != nil {
			return err
		}
		after, err := before.Dup()
		if err != nil {
			return err
		}
		for _, x := range []*Comm{c, before, after} {
			if err := reduces(x, 1, 3, Sum); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestEarlierCallsSucceed: a rank that is behind gets the results of the calls before the one that has failed. They are
// so few that root need not wait for it.
func TestEarlierCallsSucceed(t *testing.T) {
	const first, ahead = 10, 15
	must(t, 2, func(c *Comm) error {
		for range first {
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		if c.Rank() == 0 {
			for i := range ahead {
				if err := Bcast(c, []int{i}, 0); err != nil {
					return err
				}
			}
			return wants(ErrRoot, Bcast(c, one(), 2))
		}
		for !c.core().Failed() { // the notice comes before the first call
			c.Proc().Server().Poll()
		}
		for i := range ahead {
			b := one()
			if err := Bcast(c, b, 0); err != nil || b[0] != i {
				return fmt.Errorf("call %d: %v, %v", first+i+1, b, err)
			}
		}
		return failedIn(Bcast(c, one(), 0), 0, first+ahead+1, "Bcast")
	}, With("GOLCI_CHECK", "off")) // else root waits
}

// tells checks that an error has each of the texts.
func tells(err error, texts ...string) error {
	for _, s := range texts {
		if err == nil || !strings.Contains(err.Error(), s) {
			return fmt.Errorf("got %v, which does not name %q", err, s)
		}
	}
	return nil
}

// TestConcurrentCollectives: a second collective on a communicator gives an error, which names the one that runs, and
// does that no harm.
func TestConcurrentCollectives(t *testing.T) {
	for _, k := range callers {
		must(t, 2, func(c *Comm) error {
			if err := c.Barrier(); err != nil { // call 1
				return err
			}
			if c.Rank() == 1 {
				if _, err := Recv(c, one(), 0, 1); err != nil { // rank 0 is in its call
					return err
				}
				return reduces(c, 10, 11, Sum)
			}
			wait := k.run(c, func() error { return reduces(c, 1, 11, Sum) })
			for !c.core().InCall(2) {
				time.Sleep(time.Microsecond)
			}
			errs := []error{
				tells(c.Barrier(), "Barrier", "Allreduce, call 2"),
				wants(ErrConcurrent, c.Barrier()),
				wants(ErrConcurrent, Bcast(c, one(), 99)),
				wants(ErrConcurrent, second(c.Dup())),
			}
			return errors.Join(append(errs, Send(c, one(), 1, 1), wait())...)
		})
	}
}

// TestCollectivesOfManyThreads has threads compete for one communicator. What a call gives is right or ErrConcurrent.
func TestCollectivesOfManyThreads(t *testing.T) {
	const threads, calls = 4, 25
	must(t, 3, func(c *Comm) error {
		var wrong atomic.Int64
		var wg sync.WaitGroup
		errs := make([]error, threads)
		for i := range threads {
			wg.Go(func() {
				in, out := make([]int, 100), make([]int, 100)
				for done := 0; done < calls; {
					for j := range in {
						in[j] = c.Rank() + j
					}
					err := Allreduce(c, in, out, Sum)
					if errors.Is(err, ErrConcurrent) {
						runtime.Gosched() // the call that runs may be another's of this core
						continue
					}
					if err != nil {
						errs[i] = err
						return
					}
					done++
					for j := range out {
						if out[j] != 3+3*j {
							wrong.Add(1)
						}
					}
				}
			})
		}
		wg.Wait()
		if n := wrong.Load(); n > 0 {
			errs = append(errs, fmt.Errorf("%d elements are wrong", n))
		}
		return errors.Join(errs...)
	})
}
