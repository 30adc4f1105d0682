package mpi

import (
	"errors"
	"testing"
)

// TestReady sends in ready mode, small and large, once the receives have been posted.
func TestReady(t *testing.T) {
	overConduits(t, 2, func(c *Comm) error {
		peer := 1 - c.Rank()
		for _, n := range []int{0, 8, 300_000} {
			a, b := make([]byte, n), make([]byte, n)
			ra, err := Irecv(c, a, peer, 0)
			rb, err2 := Irecv(c, b, peer, 1)
			if err := errors.Join(err, err2, c.Barrier()); err != nil {
				return err
			}
			s, err := Irsend(c, pattern(n, c.Rank(), peer, 0), peer, 0)
			if err := errors.Join(err, Rsend(c, pattern(n, c.Rank(), peer, 1), peer, 1)); err != nil {
				return err
			}
			if err := Waitall([]Request{s, ra, rb}, nil); err != nil {
				return err
			}
			if err := errors.Join(checkPattern(a, peer, c.Rank(), 0), checkPattern(b, peer, c.Rank(), 1)); err != nil {
				return err
			}
		}
		r, err := Irsend(c, one(), ProcNull, 0)
		return errors.Join(err, second(r.Wait()), Rsend(c, one(), ProcNull, 0))
	})
}
