package realm

import (
	"errors"
	"testing"
)

// TestCollectiveSpawn: all processors of all ranks run the task; nobody goes on before; a failure is one of all.
func TestCollectiveSpawn(t *testing.T) {
	const ranks, rounds = 3, 20
	ran.Store(0)
	err := Run(ranks, func(rt *Runtime) error {
		for i := range rounds {
			if err := wait(t, rt, CollectiveSpawn(rt, CPU, count, struct{}{})); err != nil {
				return err
			}
			if got := ran.Load(); got < int64((i+1)*2*ranks) {
				t.Errorf("rank %d, round %d: %d tasks have run", rt.Rank(), i, got)
			}
		}
		task, text := failTask, "not here"
		e := CollectiveSpawn(rt, Utility, task, text)
		if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
			t.Errorf("rank %d: a failure: %v", rt.Rank(), err)
		}
		if err := wait(t, rt, CollectiveSpawn(rt, Group, count, struct{}{})); !errors.Is(err, ErrArgument) {
			t.Errorf("groups: %v", err)
		}
		return wait(t, rt, CollectiveSpawn(rt, IO, count, struct{}{}))
	}, Config{CPUs: 2})
	if err != nil {
		t.Error(err)
	}
	if got := ran.Load(); got != rounds*2*ranks+ranks {
		t.Errorf("%d tasks", got)
	}
}
