package realm

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/rank"
)

var stopTask = Register("stop", func(c *Ctx, after Event) error { return c.Runtime().Shutdown(after) })

// TestShutdown: a task on one rank ends the job once its event has triggered. All ranks serve until then, also those
// that ask again.
func TestShutdown(t *testing.T) {
	for n := 1; n <= 6; n++ {
		var worked atomic.Int64
		rts := make([]*Runtime, n)
		cfg := rank.Config{}
		withRuntime(&cfg, Config{}, func(rt *Runtime) { rts[rt.ev.Self] = rt })
		team, err := rank.Local(n, cfg)
		if err != nil {
			t.Fatal(err)
		}
		err = team.Run(func(r *rank.Rank) error {
			rt := rts[r.Rank()]
			if err := rt.Begin(); err != nil {
				return err
			}
			if r.Rank() == n-1 {
				var all []Event
				for i := range 50 {
					all = append(all, Spawn(rt, ProcessorOf(i%n), count, struct{}{}))
				}
				Spawn(rt, ProcessorOf(n/2), stopTask, rt.Merge(all...))
				Spawn(rt, ProcessorOf(0), stopTask, rt.Merge(all...))
			}
			if err := rt.Wait(context.Background(), Event(rt.down)); err != nil {
				return err
			}
			worked.Add(1)
			return nil
		})
		if err != nil || worked.Load() != int64(n) {
			t.Errorf("%d ranks: %d have seen the end: %v", n, worked.Load(), err)
		}
		if err := rts[0].Shutdown(NoEvent); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	}
}
