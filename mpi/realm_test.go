package mpi

import (
	"context"
	"testing"

	"github.com/golci/golci/comm/rank"
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
