package realm

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/rank"
)

// networks are the conduits that tests of several ranks run over.
var networks = map[string]rank.Config{
	"local": {},
	"udp":   {Settings: map[string]string{"GOLCI_CONDUIT": "udp"}},
	"faults": {Settings: map[string]string{
		"GOLCI_CONDUIT":    "udp",
		"GOLCI_UDP_FAULTS": "loss=0.05,dup=0.05,reorder=0.1",
	}},
}

// state is a payload.
type state struct {
	Count, Echo int64
	Fill        [96]uint64
}

// sum is what a reservation with a state of n must have in Fill.
func (s *state) write(n int64) {
	s.Count, s.Echo = n, -n
	for i := range s.Fill {
		s.Fill[i] = uint64(n) * uint64(i+1)
	}
}

func (s *state) check() error {
	for i, v := range s.Fill {
		if v != uint64(s.Count)*uint64(i+1) || s.Echo != -s.Count {
			return fmt.Errorf("word %d is %d with a count of %d, echo %d", i, v, s.Count, s.Echo)
		}
	}
	return nil
}

// until makes progress until ok is true. Others may make it true without a message to this rank.
func until(rt *Runtime, ok func() bool) error {
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Microsecond) {
		if time.Now().After(end) {
			return fmt.Errorf("rank %d waits in vain", rt.Rank())
		}
		if err := rt.OfRank().Ended(); err != nil {
			return err
		}
		rt.OfRank().Poll()
	}
	return nil
}

// everyRank creates a reservation on rank 0, runs f with it on a task of every rank, and returns when all have ended.
func everyRank[T any](n int, cfg rank.Config, f func(rt *Runtime, r Reservation[T]) error) error {
	var id atomic.Uint64
	return RunWith(n, cfg, func(rt *Runtime) error {
		if rt.Rank() == 0 {
			r, err := NewReservation[T](rt)
			if err != nil {
				return err
			}
			id.Store(uint64(r.ID()))
		}
		if err := until(rt, func() bool { return id.Load() != 0 }); err != nil {
			return err
		}
		return f(rt, ReservationID[T](id.Load()).On(rt))
	})
}

// TestReservation: each rank adds to the payload, by blocking calls and by chains of deferred ones.
func TestReservation(t *testing.T) {
	each := 100
	if testing.Short() {
		each = 20
	}
	for name, cfg := range networks {
		for _, n := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprintf("%s/ranks=%d", name, n), func(t *testing.T) {
				var done, total atomic.Int64
				err := everyRank(n, cfg, func(rt *Runtime, r Reservation[state]) error {
					if err := adds(t, rt, r, each); err != nil {
						return err
					}
					done.Add(1)
					if err := until(rt, func() bool { return done.Load() == int64(n) }); err != nil {
						return err
					}
					if rt.Rank() != n-1 {
						return nil
					}
					if err := wait(t, rt, r.Acquire(Exclusive, NoEvent)); err != nil {
						return err
					}
					total.Store(r.Payload().Count)
					return r.Release(NoEvent)
				})
				if err != nil || total.Load() != int64(3*each*n) {
					t.Errorf("counted to %d of %d: %v", total.Load(), 3*each*n, err)
				}
			})
		}
	}
}

func add(r Reservation[state]) error {
	p := r.Payload()
	if p == nil {
		return errors.New("the holder has no payload")
	}
	err := p.check()
	p.write(p.Count + 1)
	return err
}

// adds adds n three times: in a task that waits, in tasks that wait for a grant, and after a shared hold.
func adds(t *testing.T, rt *Runtime, r Reservation[state], n int) error {
	cpu := rt.CPU(0)
	var all []Event
	for range n {
		all = append(all, SpawnLocal(rt, cpu, func(c *Ctx) error {
			if err := c.Wait(r.Acquire(Exclusive, NoEvent)); err != nil {
				return err
			}
			return errors.Join(add(r), r.Release(NoEvent))
		}))
		grant := r.Acquire(Exclusive, NoEvent)
		added := SpawnLocal(rt, cpu, func(*Ctx) error { return add(r) }, After(grant))
		all = append(all, added)
		if err := r.Release(added); err != nil {
			return err
		}
		all = append(all, SpawnLocal(rt, cpu, func(c *Ctx) error {
			if err := c.Wait(r.Acquire(1, NoEvent)); err != nil {
				return err
			}
			err := errors.Join(r.Payload().check(), r.Release(NoEvent))
			return errors.Join(err, c.Wait(r.Acquire(Exclusive, NoEvent)), add(r), r.Release(NoEvent))
		}))
	}
	return wait(t, rt, rt.Merge(all...))
}

// TestShared: holders of one mode are on all ranks at once, and see what the writer has written; other modes wait.
func TestShared(t *testing.T) {
	const n = 3
	var in, out atomic.Int64
	err := everyRank(n, rank.Config{}, func(rt *Runtime, r Reservation[state]) error {
		if rt.Rank() == 0 {
			r.Acquire(Exclusive, NoEvent)
			r.Payload().write(77)
			_ = r.Release(NoEvent)
		}
		if err := wait(t, rt, r.Acquire(5, NoEvent)); err != nil {
			return err
		}
		if p := r.Payload(); p.Count != 77 || p.check() != nil {
			t.Errorf("rank %d sees %d", rt.Rank(), p.Count)
		}
		in.Add(1)
		if err := until(rt, func() bool { return in.Load() == n }); err != nil {
			return err
		}
		other := r.Acquire(6, NoEvent)
		if done, _ := rt.HasTriggered(other); done {
			t.Errorf("rank %d holds the reservation in two modes", rt.Rank())
		}
		out.Add(1)
		if err := until(rt, func() bool { return out.Load() == n }); err != nil {
			return err
		}
		return errors.Join(r.Release(NoEvent), wait(t, rt, other), r.Release(NoEvent))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestPoisonedAcquire: an acquire whose precondition is poisoned takes nothing, and the release that waits for what
// depends on its grant releases nothing. A release after a task that has failed by itself does release.
func TestPoisonedAcquire(t *testing.T) {
	for n := 1; n <= 2; n++ {
		alone(t, n, func(rt *Runtime) {
			r, _ := NewReservation[state](rt)
			gate := rt.NewUserEvent()
			first := r.Acquire(Exclusive, gate.Event())
			work := Spawn(rt, ProcessorOf(n-1), count, struct{}{}, After(first))
			if err := r.Release(work); err != nil {
				t.Error(err)
			}
			second := r.Acquire(Exclusive, NoEvent) // holds now
			third := r.Acquire(Exclusive, NoEvent)
			_ = gate.Cancel(errCause)
			if err := wait(t, rt, work); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(),
				errCause.Error()) {
				t.Errorf("the work of a poisoned acquire: %v", err)
			}
			if done, _ := rt.HasTriggered(third); second != NoEvent || done {
				t.Error("the release of a poisoned acquire has ended the hold of another")
			}
			failed := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return errCause })
			if err := r.Release(failed); err != nil {
				t.Error(err)
			}
			if err := wait(t, rt, third); err != nil {
				t.Errorf("after the release that follows a failure: %v", err)
			}
			if err := r.Release(NoEvent); err != nil || !r.TryAcquire(3) {
				t.Errorf("the reservation is not free: %v", err)
			}
			ignoring := r.Acquire(3, failed, IgnoreFaults())
			if err := errors.Join(wait(t, rt, ignoring), r.Release(NoEvent), r.Release(NoEvent)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPoisonedChain: of a chain over several reservations, each release skips or releases what is its own.
func TestPoisonedChain(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		var rs []Reservation[struct{}]
		gate := rt.NewUserEvent()
		grant := gate.Event()
		held, _ := NewReservation[struct{}](rt)
		held.Acquire(Exclusive, NoEvent)
		for range 8 {
			r, _ := NewReservation[struct{}](rt)
			grant = r.Acquire(Exclusive, grant)
			rs = append(rs, r)
		}
		end := SpawnLocal(rt, rt.CPU(0), func(*Ctx) error { return nil }, After(grant))
		for _, r := range append(rs, held) {
			if err := r.Release(end); err != nil {
				t.Error(err)
			}
		}
		_ = gate.Cancel(errCause)
		_ = wait(t, rt, end)
		for i, r := range append(rs, held) {
			if !r.TryAcquire(Exclusive) {
				t.Errorf("reservation %d is not free", i)
			}
		}
	})
}

// TestDestroyReservation: waiters and later acquires get an error that says so, on all ranks.
func TestDestroyReservation(t *testing.T) {
	const n = 3
	var waits, destroyed, ended atomic.Int64
	err := everyRank(n, rank.Config{}, func(rt *Runtime, r Reservation[state]) error {
		if rt.Rank() == 1 {
			if err := wait(t, rt, r.Acquire(Exclusive, NoEvent)); err != nil {
				return err
			}
			waits.Add(1)
		}
		if err := until(rt, func() bool { return waits.Load() == 1 }); err != nil {
			return err
		}
		grant := r.Acquire(Exclusive, NoEvent)
		destroyed.Add(1)
		if rt.Rank() == 2 {
			_ = until(rt, func() bool { return destroyed.Load() == n })
			gate := rt.NewUserEvent()
			_ = r.Destroy(gate.Event())
			_ = gate.Trigger(NoEvent)
		}
		for i := range 2 {
			if err := wait(t, rt, grant); !errors.Is(err, ErrPoisoned) || !strings.Contains(err.Error(), "destroyed") {
				t.Errorf("rank %d, acquire %d: %v", rt.Rank(), i, err)
			}
			grant = r.ID().On(rt).Acquire(Exclusive, NoEvent)
		}
		ended.Add(1)
		return until(rt, func() bool { return ended.Load() == n })
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDestroyManyReservations: what is destroyed takes no memory in the table.
func TestDestroyManyReservations(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		for range 1000 {
			r, _ := NewReservation[state](rt)
			_ = r.Destroy(NoEvent)
			if err := wait(t, rt, r.ID().On(rt).Acquire(1, NoEvent)); !errors.Is(err, ErrPoisoned) {
				t.Fatal(err)
			}
		}
		if n := len(rt.locks.of); n != 0 {
			t.Errorf("%d reservations are left", n)
		}
	})
}

// TestReservationArguments: what cannot be is an error, and nothing hangs.
func TestReservationArguments(t *testing.T) {
	alone(t, 2, func(rt *Runtime) {
		_, err := NewReservation[struct{ S []string }](rt)
		if !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "pointers") {
			t.Error(err)
		}
		if _, err = NewReservation[[4097]byte](rt); !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), "4097") {
			t.Error(err)
		}
		if _, err = NewReservation[[4096]byte](rt); err != nil {
			t.Error(err)
		}
		r, _ := NewReservation[int64](rt)
		if err := r.Release(NoEvent); !errors.Is(err, ErrArgument) || !strings.Contains(err.Error(), "nobody held") {
			t.Error(err)
		}
		if r.Payload() != nil {
			t.Error("a payload without a hold")
		}
		var zero Reservation[int64]
		for i, bad := range []Reservation[int64]{
			zero, ReservationID[int64](7).On(rt), (r.ID() + 99).On(rt),
			ReservationID[int64](uint64(r.ID()) | 77<<40).On(rt),
			ReservationID[int64](ReservationID[int32](r.ID())).On(rt),
		} {
			if i == 4 {
				bad = Reservation[int64]{ReservationID[int32](r.ID()).On(rt).c}
			}
			if err := wait(t, rt, bad.Acquire(Exclusive, NoEvent)); !errors.Is(err, ErrArgument) {
				t.Errorf("acquire of handle %d: %v", i, err)
			}
			err := errors.Join(bad.Release(NoEvent), bad.Destroy(NoEvent))
			if !errors.Is(err, ErrArgument) || bad.TryAcquire(1) || bad.Payload() != nil {
				t.Errorf("handle %d: %v", i, err)
			}
		}
		if err := wait(t, rt, r.Acquire(Exclusive, Event(1))); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
		if err := r.Release(Event(1)); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
	})
}

// TestReleaseElsewhere: a task on another rank may end a hold.
func TestReleaseElsewhere(t *testing.T) {
	var held, released atomic.Bool
	err := everyRank(2, rank.Config{}, func(rt *Runtime, r Reservation[state]) error {
		if rt.Rank() == 0 {
			r.Acquire(Exclusive, NoEvent)
			next := r.Acquire(Exclusive, NoEvent)
			held.Store(true)
			err := wait(t, rt, next)
			released.Store(true)
			return errors.Join(err, r.Release(NoEvent))
		}
		_ = until(rt, held.Load)
		return errors.Join(r.Release(NoEvent), until(rt, released.Load))
	})
	if err != nil {
		t.Error(err)
	}
}

// TestWrongReleaseElsewhere: a release without a hold, which only the owner can tell, ends the job with a message.
func TestWrongReleaseElsewhere(t *testing.T) {
	err := everyRank(2, rank.Config{}, func(rt *Runtime, r Reservation[state]) error {
		if rt.Rank() == 1 {
			_ = r.Release(NoEvent)
		}
		return until(rt, func() bool { return false })
	})
	if err == nil || !strings.Contains(err.Error(), "nobody held") {
		t.Errorf("got %v", err)
	}
}

// TestBoundOfTurns: a rank that waits gets its turn, although local users never leave the reservation.
func TestBoundOfTurns(t *testing.T) {
	var got atomic.Bool
	err := everyRank(2, rank.Config{}, func(rt *Runtime, r Reservation[state]) error {
		if rt.Rank() == 1 {
			for range 5 {
				if err := wait(t, rt, r.Acquire(Exclusive, NoEvent)); err != nil {
					return err
				}
				if err := r.Release(NoEvent); err != nil {
					return err
				}
			}
			got.Store(true)
			return nil
		}
		deadline := time.Now().Add(20 * time.Second)
		next := r.Acquire(Exclusive, NoEvent)
		for !got.Load() {
			rt.OfRank().Poll() // as a goroutine that never has to wait must
			grant := next
			next = r.Acquire(Exclusive, NoEvent) // before the release: there is always a local waiter
			if err := errors.Join(wait(t, rt, grant), r.Release(NoEvent)); err != nil {
				return err
			}
			if time.Now().After(deadline) {
				return errors.New("rank 1 does not get the reservation")
			}
		}
		return errors.Join(wait(t, rt, next), r.Release(NoEvent))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestReservationAllocations(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		r, _ := NewReservation[state](rt)
		n := testing.AllocsPerRun(1000, func() {
			r.Acquire(Exclusive, NoEvent)
			_ = r.Payload()
			_ = r.Release(NoEvent)
		})
		if n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
