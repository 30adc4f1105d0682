package realm

import (
	"errors"
	"sync"
	"testing"
)

// TestFastReservation: goroutines and tasks add to a plain variable under the lock, and read it in a shared mode. A
// lost wake-up would leave one of them waiting.
func TestFastReservation(t *testing.T) {
	const users, each = 4, 500
	err := Run(1, func(rt *Runtime) error {
		f := rt.NewFastReservation()
		n := 0
		work := func(wait func(e Event) error) error {
			for i := range each {
				if err := wait(f.Lock(Exclusive)); err != nil {
					return err
				}
				n++
				if err := errors.Join(f.Unlock(), wait(f.Lock(Mode(1+i%2)))); err != nil {
					return err
				}
				if n < i {
					return errors.New("an addition is lost")
				}
				if err := f.Unlock(); err != nil {
					return err
				}
			}
			return nil
		}
		var all []Event
		var g sync.WaitGroup
		for i := range users {
			all = append(all, SpawnLocal(rt, rt.CPU(i%2), func(c *Ctx) error { return work(c.Wait) }))
			g.Go(func() {
				if err := work(func(e Event) error { return wait(t, rt, e) }); err != nil {
					t.Error(err)
				}
			})
		}
		err := wait(t, rt, rt.Merge(all...))
		g.Wait()
		if n != 2*users*each || !f.TryLock(Exclusive) || f.TryLock(1) {
			t.Errorf("%d additions of %d, or the lock is not free", n, 2*users*each)
		}
		return err
	}, Config{CPUs: 2})
	if err != nil {
		t.Error(err)
	}
}

// TestFastReservationOrder: grants come in the order of the calls, those of one shared mode together, and a release
// without a hold is an error.
func TestFastReservationOrder(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		f := rt.NewFastReservation()
		if f.Lock(Exclusive) != NoEvent {
			t.Error("a free lock has to be waited for")
		}
		waits := []Event{f.Lock(7), f.Lock(7), f.Lock(Exclusive), f.Lock(7)}
		holds := func(want ...bool) {
			t.Helper()
			for i, e := range waits {
				if done, err := rt.HasTriggered(e); done != want[i] || err != nil {
					t.Errorf("waiter %d: %v, %v", i, done, err)
				}
			}
		}
		unlock := func() {
			t.Helper()
			if err := f.Unlock(); err != nil {
				t.Error(err)
			}
		}
		holds(false, false, false, false)
		unlock()
		holds(true, true, false, false)
		unlock()
		holds(true, true, false, false)
		unlock()
		holds(true, true, true, false)
		unlock()
		holds(true, true, true, true)
		unlock()
		for range 2 {
			if err := f.Unlock(); !errors.Is(err, ErrArgument) {
				t.Errorf("nobody holds the lock: %v", err)
			}
		}
		if n := testing.AllocsPerRun(1000, func() { f.Lock(Exclusive); _ = f.Unlock() }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
