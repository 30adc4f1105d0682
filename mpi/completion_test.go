package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// TestCompletions takes what comes, of a mixture with a receive that is too short, and leaves the loop once.
func TestCompletions(t *testing.T) {
	const k = 12
	overConduits(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			for i := k - 1; i >= 0; i-- {
				if err := Send(c, []int{i, i}, 1, i); err != nil {
					return err
				}
			}
			return nil
		}
		in, rs := make([][2]int, k), make([]Request, k+1) // the last is null
		for i := range k {
			var err error
			if i%2 == 0 {
				if rs[i], err = RecvInit(c, in[i][:2-i/10%2], 0, i); err == nil {
					err = rs[i].Start()
				}
			} else {
				rs[i], err = Irecv(c, in[i:i+1], 0, i)
			}
			if err != nil {
				return err
			}
		}
		var got []int
		for len(got) < k {
			for i, r := range Completions(rs) {
				if got = append(got, i); r.Status.Tag != i || in[i][0] != i || errors.Is(r.Err, ErrTruncate) != (i == 10) {
					return fmt.Errorf("%d: %+v, %v", i, r, in[i])
				}
				if len(got) == 3 {
					break
				}
			}
		}
		for i := range Completions(rs) {
			return fmt.Errorf("%d after all", i)
		}
		if slices.Sort(got); slices.Compact(got)[0] != 0 || len(slices.Compact(got)) != k {
			return fmt.Errorf("indices %v", got)
		}
		return nil
	})
}

// TestThen has functions called on goroutines and threads, of requests that are null, cancelled, received or persistent.
func TestThen(t *testing.T) {
	overConduits(t, 2, func(c *Comm) error {
		peer := 1 - c.Rank()
		for _, then := range []func(*Request, func(Status, error)) error{
			func(r *Request, f func(Status, error)) error { r.Then(f); return nil },
			func(r *Request, f func(Status, error)) error { return r.ThenInThread(c.Proc(), f) },
		} {
			results := make(chan Result, 1)
			put := func(st Status, err error) { results <- Result{st, err} }
			var null Request
			if err := then(&null, put); err != nil {
				return err
			}
			if r := <-results; r != (Result{Status: empty}) {
				return fmt.Errorf("null: %+v", r)
			}
			in := one()
			kept, err := RecvInit(c, in, peer, 0)
			plain, err2 := Irecv(c, one(), peer, 9)
			if err := errors.Join(err, err2, kept.Start(), plain.Cancel(), then(&plain, put)); err != nil || !plain.Null() {
				return err
			}
			if r := <-results; !errors.Is(r.Err, ErrCancelled) {
				return fmt.Errorf("cancelled: %+v", r)
			}
			for n := range 3 {
				if err := errors.Join(then(&kept, put), Send(c, []int{n}, peer, 0)); err != nil {
					return err
				}
				if r := <-results; r.Err != nil || r.Status.Source != peer || in[0] != n {
					return fmt.Errorf("start %d: %+v, %d", n, r, in[0])
				}
				if err := kept.Start(); err != nil {
					return err
				}
			}
			if err := errors.Join(kept.Cancel(), then(&kept, put)); err != nil {
				return err
			}
			if r := <-results; !errors.Is(r.Err, ErrCancelled) {
				return fmt.Errorf("cancelled: %+v", r)
			}
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		return nil
	})
}
