package mpi

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"
)

// manyWaits are the ways to have all of rs done.
var manyWaits = map[string]func(c *Comm, rs []Request) error{
	"wait": func(_ *Comm, rs []Request) error {
		var errs []error
		for i := range rs {
			errs = append(errs, second(rs[i].Wait()))
		}
		return errors.Join(errs...)
	},
	"watched": func(_ *Comm, rs []Request) error {
		for i := range rs {
			<-rs[i].Done()
		}
		return Waitall(rs, make([]Status, len(rs)))
	},
	"waitall": func(_ *Comm, rs []Request) error { return Waitall(rs, nil) },
	"context": func(_ *Comm, rs []Request) error {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		return WaitallContext(ctx, rs, nil)
	},
	"waitany": func(_ *Comm, rs []Request) error {
		for n := 0; ; n++ {
			i, _, err := Waitany(rs)
			if i == Undefined && n == len(rs) || err != nil {
				return err
			}
			if i == Undefined || n == len(rs) {
				return fmt.Errorf("index %d after %d", i, n)
			}
		}
	},
	"waitsome": func(_ *Comm, rs []Request) error {
		for n := 0; n < len(rs); {
			is, _, err := Waitsome(rs)
			if n += len(is); len(is) == 0 || err != nil {
				return fmt.Errorf("%d done: %w", n, err)
			}
		}
		return nil
	},
	"testall": func(_ *Comm, rs []Request) error {
		for {
			if ok, err := Testall(rs, nil); ok || err != nil {
				return err
			}
		}
	},
	"looked at": func(c *Comm, rs []Request) error {
		for i := range rs {
			if _, err := looked(c, &rs[i]); err != nil {
				return err
			}
		}
		if ok, err := Testall(rs, nil); !ok || err != nil {
			return fmt.Errorf("not done: %w", err)
		}
		return nil
	},
}

// TestMixtures waits in each way for mixtures of persistent and other requests, with views among them. It starts the
// persistent ones several times.
func TestMixtures(t *testing.T) {
	const large = 200_000
	overConduits(t, 2, func(c *Comm) error {
		ctx, end := context.WithCancel(context.Background())
		defer end()
		view, peer := c.WithContext(ctx), 1-c.Rank()
		outs, ins := make([][]byte, 4), make([][]byte, 4)
		kept := make([]Request, 8)
		for i := range ins {
			outs[i], ins[i] = make([]byte, 8+i%2*large), make([]byte, 8+i%2*large)
			k, init := c, []func(*Comm, []byte, int, int) (Request, error){SendInit[byte], SsendInit[byte], RsendInit[byte]}[i%3]
			if i >= 2 {
				k = view
			}
			var err, err2 error
			kept[i], err = RecvInit(k, ins[i], []int{peer, AnySource}[i%2], i)
			kept[4+i], err2 = init(k, outs[i], peer, i)
			if err := errors.Join(err, err2); err != nil {
				return err
			}
		}
		if err := Waitall(kept, nil); err != nil { // inactive
			return err
		}
		for round, name := range slices.Sorted(maps.Keys(manyWaits)) { // the same order on both ranks
			wait := manyWaits[name]
			for i := range ins {
				copy(outs[i], pattern(len(outs[i]), c.Rank(), peer, i+round))
			}
			if err := c.Barrier(); err != nil {
				return err
			}
			if err := mixture(c, peer, kept, wait); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			for i := range ins {
				if err := checkPattern(ins[i], peer, c.Rank(), i+round); err != nil {
					return fmt.Errorf("%s, message %d: %w", name, i, err)
				}
			}
		}
		for i := range kept {
			if err := kept[i].Free(); err != nil || !kept[i].Null() {
				return fmt.Errorf("free: %w", err)
			}
		}
		return nil
	})
}

// mixture starts the persistent requests and others, and has wait wait for all.
func mixture(c *Comm, peer int, kept []Request, wait func(*Comm, []Request) error) error {
	if err := StartAll(kept); err != nil {
		return err
	}
	in, sum := one(), one()
	r, err := Irecv(c, in, peer, 100)
	s, err2 := Isend(c, []int{5}, peer, 100)
	b, err3 := Iallreduce(c, []int{1}, sum, Sum[int])
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	rs := append([]Request{r, s, b}, kept...) // copies are the same requests
	if err := wait(c, rs); err != nil {
		return err
	}
	for i := range rs {
		if st, ok, err := rs[i].Test(); rs[i].Null() != (i < 3) || st != empty || !ok || err != nil {
			return fmt.Errorf("request %d: null %t, %+v %t %w", i, rs[i].Null(), st, ok, err)
		}
	}
	if in[0] != 5 || sum[0] != 2 {
		return fmt.Errorf("got %d, sum %d", in[0], sum[0])
	}
	return nil
}

// TestPersistentMisuse starts what is active, freed or not persistent.
func TestPersistentMisuse(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		r, err := RecvInit(c, one(), 0, 0)
		if err != nil {
			return err
		}
		if err := r.Cancel(); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("cancel of an inactive one: %w", err)
		}
		if st, ok, err := r.GetStatus(); st != empty || !ok || err != nil {
			return fmt.Errorf("status of an inactive one: %+v %v %w", st, ok, err)
		}
		plain, err := Irecv(c, one(), 0, 1)
		if err := errors.Join(err, r.Start()); err != nil {
			return err
		}
		if i, _, ok, err := Testany([]Request{r}); i != Undefined || ok || err != nil {
			return fmt.Errorf("an active one is done: %d %v %w", i, ok, err)
		}
		for _, q := range []*Request{&r, &plain, new(Request), nil} {
			if err := q.Start(); !errors.Is(err, ErrRequest) {
				return fmt.Errorf("start: %w", err)
			}
		}
		if err := StartAll([]Request{r}); !errors.Is(err, ErrRequest) {
			return fmt.Errorf("start of all: %w", err)
		}
		for range 2 { // cancelled, and started again
			if err := errors.Join(r.Cancel(), plain.Cancel()); err != nil && r.Null() {
				return err
			}
			if st, err := r.Wait(); !errors.Is(err, ErrCancelled) || !st.Cancelled() || r.Null() {
				return fmt.Errorf("cancelled: %+v %w", st, err)
			}
			if err := r.Start(); err != nil {
				return err
			}
		}
		if _, err := plain.Wait(); !errors.Is(err, ErrCancelled) {
			return err
		}
		twin := r
		if err := r.Free(); err != nil || !r.Null() { // active: it receives all the same
			return err
		}
		if err := Ssend(c, []int{3}, 0, 0); err != nil {
			return err
		}
		for _, err := range []error{
			twin.Start(), twin.Free(), twin.Cancel(), second(twin.Wait()), third(twin.Test()), third(twin.GetStatus()),
		} {
			if !errors.Is(err, ErrRequest) {
				return fmt.Errorf("a copy of one that was freed: %w", err)
			}
		}
		return nil
	})
}

// TestPersistentEnds: starts on views that are over and on communicators that are freed, and waits that end.
func TestPersistentEnds(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		freed, err := SendInit(d, one(), 0, 0)
		if err := errors.Join(err, d.Free()); err != nil {
			return err
		}
		if err := freed.Start(); !errors.Is(err, ErrComm) {
			return fmt.Errorf("on a freed communicator: %w", err)
		}
		ctx, end := context.WithCancel(context.Background())
		defer end()
		r, err := RecvInit(c.WithContext(ctx), one(), 0, 0)
		q, err2 := RecvInit(c, one(), ProcNull, 0)
		s, err3 := SendInit(c, one(), ProcNull, 0)
		if err := errors.Join(err, err2, err3, r.Start(), q.Start(), s.Start()); err != nil {
			return err
		}
		if st, err := q.Wait(); st != nullStatus || err != nil {
			return fmt.Errorf("from the null process: %+v %w", st, err)
		}
		if st, err := s.Wait(); st != empty || err != nil {
			return fmt.Errorf("to the null process: %+v %w", st, err)
		}
		short, stop := context.WithTimeout(context.Background(), time.Millisecond)
		defer stop()
		if i, _, err := WaitanyContext(short, []Request{r}); i != Undefined || !errors.Is(err, ErrPending) {
			return fmt.Errorf("%d %w", i, err)
		}
		if _, err := r.WaitContext(short); !errors.Is(err, ErrCancelled) || r.Null() {
			return err
		}
		if err := r.Start(); err != nil {
			return err
		}
		end()
		if _, err := r.Wait(); !errors.Is(err, ErrCancelled) {
			return err
		}
		if err := r.Start(); !errors.Is(err, ErrCancelled) {
			return fmt.Errorf("on a view that is over: %w", err)
		}
		return second(r.Wait()) // it is inactive still
	})
}
