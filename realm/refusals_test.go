package realm

import (
	"errors"
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
