package mpi

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// overConduits runs f as n ranks over each of two conduits.
func overConduits(t *testing.T, n int, f func(c *Comm) error) {
	for _, conduit := range []string{"local", "udp"} {
		t.Run(conduit, func(t *testing.T) { must(t, n, f, With("GOLCI_CONDUIT", conduit)) })
	}
}

// TestFree frees requests under way and requests that are done. Their messages come all the same. Of small messages
// both requests are freed, but of those whose sender asks first only that of the send. Of large ones it is the one or
// the other.
func TestFree(t *testing.T) {
	const count, large = 40, 300_000
	overConduits(t, 2, func(c *Comm) error {
		peer := 1 - c.Rank()
		ins, kept := make([][]byte, count), make([]Request, 0, count)
		free := func(i int, r Request, err error, waits bool) error {
			if i%3 == 0 {
				r.Done()
			}
			if err == nil && waits {
				kept = append(kept, r)
				return nil
			}
			if err := errors.Join(err, r.Free()); err != nil || !r.Null() {
				return fmt.Errorf("request %d: %w", i, err)
			}
			return nil
		}
		for i := range ins {
			n := 8
			if i%2 == 1 {
				n = large
			}
			ins[i] = make([]byte, n)
			r, err := Irecv(c, ins[i], peer, i)
			asks := i/4%2 == 1
			if err := free(i, r, err, i%4 == 1 || asks && n == 8); err != nil {
				return err
			}
		}
		for i := range ins {
			start := []func(*Comm, []byte, int, int) (Request, error){Isend[byte], Issend[byte]}[i/4%2]
			r, err := start(c, pattern(len(ins[i]), c.Rank(), peer, i), peer, i)
			if err := free(i, r, err, i%4 == 3); err != nil {
				return err
			}
		}
		// Messages of a pair are matched in order, and this one is the last. So those that need no answer have come.
		if _, err := Sendrecv(c, []int{1}, peer, count, one(), peer, count); err != nil {
			return err
		}
		if err := Waitall(kept, nil); err != nil {
			return err
		}
		for i, in := range ins {
			if i%4 == 3 { // its bytes may still be coming
				continue
			}
			if err := checkPattern(in, peer, c.Rank(), i); err != nil {
				return err
			}
		}
		return c.Barrier()
	})
}

// TestFreeForbidden: requests of collectives, null ones and copies of what has been waited for are not freed.
func TestFreeForbidden(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		r, err := c.Ibarrier()
		if err != nil {
			return err
		}
		for _, f := range []func() error{r.Free, r.Cancel} {
			if err := f(); !errors.Is(err, ErrRequest) || r.Null() {
				return fmt.Errorf("a collective's: %w", errors.Join(errors.New("want ErrRequest"), err))
			}
		}
		twin := r
		if _, err := r.Wait(); err != nil {
			return err
		}
		for _, f := range []func() error{r.Free, twin.Free, twin.Cancel, (*Request)(nil).Free} {
			if err := f(); !errors.Is(err, ErrRequest) {
				return fmt.Errorf("of nothing: %w", errors.Join(errors.New("want ErrRequest"), err))
			}
		}
		return nil
	})
}

// TestGetStatus looks at requests before and after they are done. They stay as they are, so that a wait tells the same.
func TestGetStatus(t *testing.T) {
	overConduits(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			if _, err := Recv(c, []byte{}, 1, 0); err != nil { // until rank 1 has seen that it is not done
				return err
			}
			return errors.Join(Send(c, []int{7, 8}, 1, 1), Send(c, []int{7, 8}, 1, 2))
		}
		fits, short := make([]int, 3), one()
		a, err := Irecv(c, fits, AnySource, 1)
		b, err2 := Irecv(c, short, 0, 2)
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		if _, ok, err := a.GetStatus(); ok || err != nil || a.Null() {
			return fmt.Errorf("done before anything was sent: %v", err)
		}
		if err := Send(c, []byte{}, 0, 0); err != nil {
			return err
		}
		for _, q := range []struct {
			r    *Request
			n    int64
			want error
		}{{&a, 16, nil}, {&b, 8, ErrTruncate}} {
			st, err := looked(c, q.r)
			again, ok, err2 := q.r.GetStatus()
			last, err3 := q.r.Wait()
			if st.Bytes() != q.n || st.Source != 0 || st != again || st != last || !ok {
				return fmt.Errorf("%+v, %+v, %+v; want %d bytes", st, again, last, q.n)
			}
			for _, err := range []error{err, err2, err3} {
				if !errors.Is(err, q.want) {
					return fmt.Errorf("%w, want %w", err, q.want)
				}
			}
		}
		return nil
	})
}

// looked calls GetStatus until r is done.
func looked(c *Comm, r *Request) (Status, error) {
	for {
		if st, ok, err := r.GetStatus(); ok {
			return st, err
		}
		c.Proc().Server().Poll()
	}
}

// TestGetStatusOfNothing: null requests, the null process, sends, copies, and views whose context has ended.
func TestGetStatusOfNothing(t *testing.T) {
	boom := errors.New("boom")
	must(t, 1, func(c *Comm) error {
		var null Request
		if st, ok, err := null.GetStatus(); st != empty || !ok || err != nil {
			return fmt.Errorf("null: %+v %v %w", st, ok, err)
		}
		r, err := Irecv(c, one(), ProcNull, 0)
		if st, ok, err2 := r.GetStatus(); st != nullStatus || !ok || err != nil || err2 != nil || r.Null() {
			return fmt.Errorf("from the null process: %+v %v %w", st, ok, err)
		}
		if err := r.Cancel(); err != nil {
			return err
		}
		s, err := Isend(c, one(), 0, 0)
		if st, ok, err2 := s.GetStatus(); st != empty || !ok || err != nil || err2 != nil || s.Null() {
			return fmt.Errorf("send: %+v %v %w", st, ok, err)
		}
		ctx, end := context.WithCancelCause(context.Background())
		defer end(nil)
		v, err := Irecv(c.WithContext(ctx), one(), 0, 9)
		if err != nil {
			return err
		}
		end(boom)
		twin := v
		for range 2 {
			st, ok, err := v.GetStatus()
			if !st.Cancelled() || !ok || !errors.Is(err, ErrCancelled) || !errors.Is(err, boom) {
				return fmt.Errorf("view: %+v %v %w", st, ok, err)
			}
		}
		if _, err := v.Wait(); !errors.Is(err, ErrCancelled) || !errors.Is(err, boom) {
			return err
		}
		if _, ok, err := twin.GetStatus(); !ok || !errors.Is(err, ErrRequest) {
			return fmt.Errorf("a copy: %v %w", ok, err)
		}
		_, err = Recv(c, one(), 0, 0)
		return err
	})
}
