package realm

import (
	"errors"
	"testing"
)

var awaitTask = Register("await", func(c *Ctx, e Event) error { return c.Wait(e) })

// TestPoisonPassesTasks: tasks that return what their wait has returned pass the poison on as it is. So its rank and
// its cause are known at the end of a long chain over several ranks.
func TestPoisonPassesTasks(t *testing.T) {
	cause := errors.New("the disk is full")
	overNets(t, 3, func(t *testing.T, rts []*Runtime) {
		u := rts[1].NewUserEvent()
		e := u.Event()
		for i := range 12 {
			e = Spawn(rts[i%3], ProcessorOf((i+1)%3), awaitTask, e)
		}
		must(t, u.Cancel(cause))
		err := wait(t, rts[0], e)
		var p *PoisonError
		if !errors.As(err, &p) || p.Rank != 1 || p.Cause != cause.Error() {
			t.Errorf("another rank learns %v", err)
		}
		if err := wait(t, rts[1], Spawn(rts[1], ProcessorOf(1), awaitTask, u.Event())); !errors.Is(err, cause) {
			t.Errorf("the rank of the fault learns %v", err)
		}
	})
}
