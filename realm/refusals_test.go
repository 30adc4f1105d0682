package realm

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRefusalsTravel: the poison of a chain of refused acquires goes to another rank and back. The releases after it
// belong to the refused acquires, all of them: none ends the hold of somebody else. The cause is still known.
func TestRefusalsTravel(t *testing.T) {
	cause := errors.New("the disk is full")
	for _, n := range []int{2, 9, 40} {
		overNets(t, 2, func(t *testing.T, rts []*Runtime) {
			rt := rts[0]
			var locks []Reservation[int64]
			u := rt.NewUserEvent()
			e := u.Event()
			for range n {
				l, err := NewReservation[int64](rt)
				must(t, err)
				must(t, wait(t, rt, l.Acquire(Exclusive, NoEvent))) // somebody else holds it
				locks = append(locks, l)
				e = l.Acquire(Exclusive, e)
			}
			e = Spawn(rts[1], ProcessorOf(1), nothing, args40{}, After(e))
			for _, l := range locks {
				must(t, l.Release(e))
			}
			must(t, u.Cancel(cause))
			var p *PoisonError
			err := wait(t, rt, e)
			if !errors.As(err, &p) || p.Rank != 0 || !strings.HasSuffix(p.Cause, cause.Error()) {
				t.Errorf("the end of the chain does not tell the cause: %v", err)
			}
			for i, l := range locks {
				if l.TryAcquire(Exclusive) {
					t.Errorf("the release of refused acquire %d of %d has ended another hold", i, n)
				}
				must(t, l.Release(NoEvent))
			}
		})
	}
}

// TestQuotedRefusals: a release after an error that wraps the refusal of an acquire belongs to that acquire, also on
// another rank, and however long the error is. An error that only has its text does not keep the release from
// happening.
func TestQuotedRefusals(t *testing.T) {
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		rt := rts[0]
		l, err := NewReservation[int64](rt)
		must(t, err)
		u := rt.NewUserEvent()
		refused := l.Acquire(Exclusive, u.Event())
		must(t, u.Cancel(nil))
		var p *PoisonError
		if err = wait(t, rt, refused); !errors.As(err, &p) {
			t.Fatalf("the acquire was not refused: %v", err)
		}
		for _, c := range []struct {
			err  error
			ends bool // the hold
		}{
			{errors.New(err.Error()), true},
			{errors.New(p.Cause), true},
			{fmt.Errorf("again: %v", err), true},
			{err, false},
			{fmt.Errorf("again: %w", err), false},
			{fmt.Errorf("%0200d: %w", 0, err), false},
			{fmt.Errorf("none: %w", (*PoisonError)(nil)), true},
		} {
			for _, at := range rts {
				if !l.TryAcquire(Exclusive) {
					t.Fatal("not free")
				}
				why := at.NewUserEvent()
				must(t, why.Cancel(c.err))
				if err := wait(t, rt, why.Event()); err == nil {
					t.Error("not poisoned")
				}
				must(t, l.Release(why.Event()))
				if ends := l.TryAcquire(Exclusive); ends != c.ends {
					t.Errorf("after %q on rank %d the hold has ended: %v", c.err, at.Rank(), ends)
				}
				must(t, l.Release(NoEvent))
			}
		}
	})
}
