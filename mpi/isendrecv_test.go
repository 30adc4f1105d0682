package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestIsendrecv passes buffers round a ring of three ranks, short and long ones, in two buffers and in one.
func TestIsendrecv(t *testing.T) {
	overConduits(t, 3, func(c *Comm) error {
		next, last := (c.Rank()+1)%3, (c.Rank()+2)%3
		for _, n := range []int{0, 8, 300_000} {
			out, in := pattern(n, c.Rank(), next, 1), make([]byte, n)
			a, err := Isendrecv(c, out, next, 1, in, last, 1)
			if err != nil {
				return err
			}
			both := pattern(n, c.Rank(), next, 2)
			b, err := IsendrecvReplace(c, both, next, 2, last, 2)
			if err != nil {
				return err
			}
			st := make([]Status, 2)
			if err := Waitall([]Request{b, a}, st); err != nil {
				return err
			}
			if err := errors.Join(checkPattern(in, last, c.Rank(), 1), checkPattern(both, last, c.Rank(), 2)); err != nil {
				return err
			}
			for i, s := range st {
				if s.Source != last || s.Tag != 2-i || s.Bytes() != int64(n) {
					return fmt.Errorf("%d bytes: request %d: %+v", n, i, s)
				}
			}
		}
		return nil
	})
}

// TestIsendrecvEnds has the other ways in which both end: the null process, truncation, GetStatus, Cancel, a context,
// Free, and errors before the start.
func TestIsendrecvEnds(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		me, other := []int{c.Rank()}, 1-c.Rank()
		in := []int{-1, -1}
		r, err := Isendrecv(c, me, ProcNull, 1, in, ProcNull, 1)
		if st, werr := r.Wait(); errors.Join(err, werr) != nil || st.Source != ProcNull || !r.Null() {
			return fmt.Errorf("the null process: %+v, %w", st, errors.Join(err, werr))
		}

		r, err = Isendrecv(c, in, other, 2, me[:1], other, 2)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); !errors.Is(err, ErrTruncate) || !r.Null() {
			return fmt.Errorf("a message that is too long: %w", err)
		}

		r, err = Isendrecv(c, in[:1], other, 3, me, other, 4)
		if err != nil {
			return err
		}
		if _, ok, err := r.GetStatus(); ok || err != nil {
			return fmt.Errorf("done without a message: %w", err)
		}
		copied := r
		if err := r.Cancel(); err != nil {
			return err
		}
		if st, err := r.Wait(); !errors.Is(err, ErrCancelled) || !st.Cancelled() {
			return fmt.Errorf("cancelled: %+v, %w", st, err)
		}
		if _, err := copied.Wait(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a copy: %w", err)
		}
		got := []int{0}
		if _, err := Recv(c, got, other, 3); err != nil { // the send was eager
			return err
		}

		ctx, end := context.WithCancel(context.Background())
		r, err = Isendrecv(c.WithContext(ctx), me, other, 5, in, other, 6)
		end()
		if err != nil {
			return err
		}
		if _, err := r.Wait(); !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("a view whose context has ended: %w", err)
		}
		if _, err := Recv(c, got, other, 5); err != nil {
			return err
		}

		r, err = Isendrecv(c, me, other, 7, in[:1], other, 7)
		if err := errors.Join(err, c.Barrier()); err != nil {
			return err
		}
		for range 2 { // the status stays
			for {
				if st, ok, err := r.GetStatus(); err != nil {
					return err
				} else if ok {
					if st.Source != other || st.Tag != 7 {
						return fmt.Errorf("status %+v", st)
					}
					break
				}
			}
		}
		if err := r.Free(); err != nil || !r.Null() {
			return fmt.Errorf("Free: %w", err)
		}

		_, e1 := Isendrecv(c, me, 2, 1, in, other, 1)
		_, e2 := Isendrecv(c, me, other, 1, in, 2, 1)
		_, e3 := Isendrecv(c, in, other, 1, in, other, 1)
		if !errors.Is(e1, ErrRank) || !errors.Is(e2, ErrRank) || !errors.Is(e3, ErrBuffer) {
			return fmt.Errorf("%w, %w, %w", e1, e2, e3)
		}
		return c.Barrier()
	})
}
