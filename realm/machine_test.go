package realm

import (
	"context"
	"errors"
	"testing"

	"github.com/golci/golci/rank"
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

// TestMemories: every rank finds the memories of all ranks, with their capacity, and knows how near they are.
func TestMemories(t *testing.T) {
	const system, segment = 1 << 20, 1 << 16
	job := func(rt *Runtime) error {
		ctx := context.Background()
		for kind, capacity := range map[MemoryKind]int64{System: system, Registered: segment} {
			all, err := rt.Memories(ctx, AllRanks, kind)
			if err != nil {
				return err
			}
			for r, m := range all {
				if m != (MemoryInfo{rt.MemoryOf(r, kind), capacity}) || len(all) != rt.Size() {
					t.Errorf("rank %d: %v memories: %v", rt.Rank(), kind, all)
				}
			}
		}
		if all, err := rt.Memories(ctx, 1, System); err != nil || len(all) != 1 || all[0].Memory.Rank() != 1 {
			t.Errorf("of rank 1: %v, %v", all, err)
		}
		if all, err := rt.Memories(ctx, AllRanks, GPU); err != nil || all != nil {
			t.Errorf("memories of GPUs: %v, %v", all, err)
		}
		if _, err := rt.Memories(ctx, 0, memoryKinds); !errors.Is(err, ErrArgument) {
			t.Errorf("a kind that there is not: %v", err)
		}
		return affinities(t, rt)
	}
	for _, net := range nets {
		err := RunWith(3, rank.Config{Settings: net.settings}, job, Config{Memory: system, Segment: segment})
		if err != nil {
			t.Errorf("%s: %v", net.name, err)
		}
	}
}

// affinities checks that memory counts as near exactly where copies go there straight.
func affinities(t *testing.T, rt *Runtime) error {
	ctx := context.Background()
	for from := range rt.Size() {
		for to := range rt.Size() {
			want := [...]Affinity{System: AffinityFar, Registered: AffinityFar}
			if from == to {
				want = [...]Affinity{System: AffinityOwn, Registered: AffinityOwn}
			} else if mem, err := rt.data.rma.Mapped((rt.Rank() + 1) % rt.Size()); err != nil {
				return err
			} else if mem != nil {
				want[Registered] = AffinityNear
			}
			for kind, a := range want {
				m := rt.MemoryOf(to, MemoryKind(kind))
				if got, err := rt.Affinity(ctx, from, m); err != nil || got != a {
					t.Errorf("rank %d to %v: %v, not %v, %v", from, m, got, a, err)
				}
			}
		}
	}
	for _, c := range []struct {
		rank int
		m    Memory
	}{{AllRanks, rt.Memory(System)}, {3, rt.Memory(System)}, {0, 0}, {0, rt.MemoryOf(3, System)}, {1, rt.Memory(GPU)}} {
		if _, err := rt.Affinity(ctx, c.rank, c.m); !errors.Is(err, ErrArgument) {
			t.Errorf("rank %d and %v: %v", c.rank, c.m, err)
		}
	}
	return nil
}
