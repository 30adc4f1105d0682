package realm

import (
	"context"
	"errors"
	"testing"
)

var where = Register("where", func(c *Ctx, i int) error {
	ran.Add(1 << (8 * i) * int64(1+c.Processor().Rank()))
	return nil
})

// TestProcessors: every rank finds the processors of all ranks, and can use them.
func TestProcessors(t *testing.T) {
	ran.Store(0)
	err := Run(3, func(rt *Runtime) error {
		ctx := context.Background()
		all, err := rt.Processors(ctx, AllRanks, CPU)
		if err != nil {
			return err
		}
		if len(all) != 6 || all[5].Rank() != 2 || all[5].Index() != 1 || all[1] != rt.CPU(1)&^(0xFFFF<<32) {
			t.Errorf("rank %d: %v", rt.Rank(), all)
		}
		if one, err := rt.Processors(ctx, 1,
			IO); err != nil || len(one) != 1 || one[0].Kind() != IO || one[0].Rank() != 1 {
			t.Errorf("IO of rank 1: %v, %v", one, err)
		}
		if _, err := rt.Processors(ctx, 3, CPU); !errors.Is(err, ErrArgument) {
			t.Errorf("rank 3: %v", err)
		}
		if _, err := rt.Processors(ctx, 0, Group); !errors.Is(err, ErrArgument) {
			t.Errorf("groups: %v", err)
		}
		if h, err := rt.Host(ctx, 2); err != nil || h == "" {
			t.Errorf("host %q, %v", h, err)
		}
		if rt.Rank() != 0 {
			return nil
		}
		err = wait(t, rt, SpawnEach(rt, all, where, func(i int) int { return i }))
		if got := ran.Load(); err != nil || got != 1|1<<8|2<<16|2<<24|3<<32|3<<40 {
			t.Errorf("%#x, %v", got, err)
		}
		return nil
	}, Config{CPUs: 2})
	if err != nil {
		t.Error(err)
	}
}
