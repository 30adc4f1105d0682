package mpi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/test/pendingtest"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

var addTask = realm.Register("add", func(c *realm.Ctx, a struct{ To, Value int }) error {
	added[c.Runtime().Rank()][a.To] += a.Value
	return nil
})

var added [3][3]int // by rank; written by its only CPU processor

// TestRealmBesideMPI: tasks and events of realm, and messages of MPI, go on in the same ranks at the same time. A task
// may call MPI.
func TestRealmBesideMPI(t *testing.T) {
	added = [3][3]int{}
	rts := make([]*realm.Runtime, 3)
	attach := func(r *rank.Rank) (err error) {
		rts[r.Rank()], err = realm.New(r, realm.Config{CPUs: 1})
		return err
	}
	err := Run(3, func(c *Comm) error {
		rt := rts[c.Rank()]
		if err := rt.Begin(); err != nil {
			return err
		}
		var all []realm.Event
		for i := range 300 {
			dst := realm.ProcessorOf(i % 3)
			all = append(all, realm.Spawn(rt, dst, addTask, struct{ To, Value int }{c.Rank(), i}))
		}
		call := realm.SpawnLocal(rt, rt.CPU(0), func(*realm.Ctx) error {
			x, err := AllreduceOne(c, c.Rank()+1, Sum)
			if x != 6 {
				t.Errorf("rank %d: sum %d", c.Rank(), x)
			}
			return err
		})
		if err := rt.Wait(context.Background(), rt.Merge(append(all, call)...)); err != nil {
			return err
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		for src := range 3 {
			if got, want := added[c.Rank()][src], 14850+100*c.Rank(); got != want {
				t.Errorf("rank %d has %d of rank %d, want %d", c.Rank(), got, src, want)
			}
		}
		return nil
	}, WithRank(attach))
	if err != nil {
		t.Fatal(err)
	}
}

// TestRealmPendsBesideMPI: the registry of a rank has what waits in MPI and in realm. Each layer counts and reports its
// own, and the end of the rank ends both.
func TestRealmPendsBesideMPI(t *testing.T) {
	var rt *realm.Runtime
	attach := func(r *rank.Rank) (err error) {
		rt, err = realm.New(r, realm.Config{CPUs: 1})
		return err
	}
	err := Run(1, func(c *Comm) error {
		if err := rt.Begin(); err != nil {
			return err
		}
		calls := []*pendingtest.Call{
			{Name: "realm", Shows: "Runtime.Wait", Do: func() error {
				return rt.Wait(context.Background(), rt.NewUserEvent().Event())
			}},
			{
				Name: "mpi", Shows: "Recv", Do: func() error { return second(Recv(c, ins(), 0, 1)) },
				Mine: func(o *pending.Op) bool { return o.Kind == pending.Recv },
			},
		}
		if err := pendingtest.Begin(c.Proc().Server().Endpoint().Pending(), calls); err != nil {
			return err
		}
		var b strings.Builder
		c.Proc().Dump(&b)
		if n := strings.Count(b.String(), "Runtime.Wait"); n != 1 || !strings.Contains(b.String(), "2 calls wait") {
			t.Errorf("%d lines tell of the call of realm:\n%s", n, &b)
		}
		if n := c.Proc().core().Counters()[tool.PendingCalls]; n != 0 {
			t.Errorf("%d calls of MPI", n)
		}
		err := c.Proc().Finalize()
		if !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "2 operations") {
			t.Errorf("Finalize: %v", err)
		}
		return errors.Join(pendingtest.Ended(calls[:1], realm.ErrClosed), pendingtest.Ended(calls[1:], ErrFinalized))
	}, WithRank(attach))
	if err != nil {
		t.Error(err)
	}
}
