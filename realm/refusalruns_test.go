package realm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// spend triggers and cancels some events, so that the slots that are used next have good and poisoned generations, with
// causes of their own.
func spend(rt *Runtime, n int) (err error) {
	for i := range n {
		good, bad := rt.NewUserEvent(), rt.NewUserEvent()
		err = errors.Join(err, good.Trigger(NoEvent), bad.Cancel(fmt.Errorf("cause %d", i)))
	}
	return err
}

// TestReleaseAmongRuns: the release of a refused acquire does nothing, and the newest cause is known, however the
// poisoned generations of the events before lie among good ones, and whatever is poisoned between. The release of a hold
// is done. So it is here and on another rank, and whether the release is called before the cancel or after it.
func TestReleaseAmongRuns(t *testing.T) {
	for _, r := range []struct{ before, between int }{{1, 0}, {0, 1}, {1, 4}, {0, 17}} {
		for _, early := range []bool{false, true} {
			team(t, 2, rankConfig("local"), func(rts []*Runtime) {
				l, err := NewReservation[int64](rts[0])
				must(t, err)
				for i := range 60 {
					rt, at := rts[i/2%2], rts[i%2]
					must(t, spend(rt, r.before))
					must(t, wait(t, rts[0], l.Acquire(Exclusive, NoEvent))) // somebody else holds it
					refused(t, l, rt, at, r.between, early)
					if l.Payload() == nil {
						t.Fatalf("%+v, early %v: release %d of a refused acquire has ended another hold", r, early, i)
					}
					failed := at.NewUserEvent()
					must(t, failed.Cancel(fs.ErrNotExist))
					must(t, l.ID().On(at).Release(failed.Event()))
					must(t, wait(t, rts[0], l.Acquire(Exclusive, NoEvent))) // else the hold has not ended
					must(t, l.Release(NoEvent))
				}
			})
		}
	}
}

// refused cancels an acquire on rt of l, and releases it on at. Some other events are canceled between.
func refused(t *testing.T, l Reservation[int64], rt, at *Runtime, between int, early bool) {
	t.Helper()
	u := rt.NewUserEvent()
	grant := l.ID().On(rt).Acquire(Exclusive, u.Event())
	if early {
		must(t, l.ID().On(at).Release(grant))
	}
	must(t, u.Cancel(nil))
	if err := rt.Wait(context.Background(), u.Event()); !errors.Is(err, ErrCanceled) || strings.Contains(err.Error(), "forgotten") {
		t.Errorf("the newest cause is lost: %v", err)
	}
	must(t, spend(rt, between))
	if !early {
		must(t, l.ID().On(at).Release(grant))
	}
	if err := wait(t, at, grant); !errors.Is(err, ErrCanceled) { // the release has looked at it before
		t.Errorf("the grant is refused by %v", err)
	}
}

// TestLongRefusedChains: a hold ends after a long chain of refused acquires of others, and the releases of the chain end no
// hold, here and on another rank. The longest does not fit one message.
func TestLongRefusedChains(t *testing.T) {
	for _, n := range []int{1, 20, 32, 33, 100, 5000} {
		team(t, 2, rankConfig("local"), func(rts []*Runtime) {
			rt := rts[0]
			lock := func() Reservation[int64] {
				l, err := NewReservation[int64](rt)
				must(t, err)
				must(t, wait(t, rt, l.Acquire(Exclusive, NoEvent)))
				return l
			}
			held, there := lock(), lock()
			var chain []Reservation[int64]
			u := rt.NewUserEvent()
			e := u.Event()
			for range n {
				l := lock()
				e = l.Acquire(Exclusive, e)
				chain = append(chain, l)
			}
			far := Spawn(rt, ProcessorOf(1), nothing, args40{}, After(e))
			back := rts[1].NewUserEvent()
			must(t, back.Trigger(far))
			for _, l := range chain {
				must(t, l.Release(back.Event()))
			}
			must(t, held.Release(e))
			must(t, there.ID().On(rts[1]).Release(far))
			must(t, u.Cancel(nil))
			if err := wait(t, rt, back.Event()); !errors.Is(err, ErrCanceled) {
				t.Errorf("the end of a chain of %d: %v", n, err)
			}
			for i, l := range chain {
				if l.Payload() == nil {
					t.Fatalf("the release of refused acquire %d of %d has ended another hold", i, n)
				}
			}
			for _, l := range []Reservation[int64]{held, there} {
				must(t, wait(t, rt, l.Acquire(Exclusive, NoEvent)))
			}
		})
	}
}

// TestErrorsElsewhere: errors.Is finds the errors that it documents in a poison on all ranks, whatever their text, and
// when the cause has been forgotten. Others it finds where the fault began.
func TestErrorsElsewhere(t *testing.T) {
	for _, err := range []error{
		ErrMemory, ErrArgument, ErrCanceled, ErrTriggered, ErrBegun, ErrRegistered, ErrSize, ErrPeer, ErrClosed, ErrPending,
		context.Canceled, context.DeadlineExceeded, fs.ErrNotExist,
	} {
		team(t, 2, rankConfig("local"), func(rts []*Runtime) {
			rt, at := rts[0], rts[1]
			u, quoted := rt.NewUserEvent(), rt.NewUserEvent()
			must(t, u.Cancel(fmt.Errorf("%0300d: %w", 0, err)))
			must(t, quoted.Cancel(errors.New(err.Error())))
			check := func(when string) {
				for _, r := range rts {
					got := r.Wait(context.Background(), u.Event())
					if !errors.Is(got, err) || !errors.Is(got, ErrPoisoned) {
						t.Errorf("%s, rank %d: %v is not found in %v", when, r.Rank(), err, got)
					}
					if errors.Is(got, ErrForgotten) || errors.Is(r.Wait(context.Background(), quoted.Event()), err) {
						t.Errorf("%s, rank %d: an error is found that is not there", when, r.Rank())
					}
				}
			}
			check("at once")
			again := at.NewUserEvent() // an error that wraps the poison
			must(t, again.Cancel(fmt.Errorf("again: %w", at.Wait(context.Background(), u.Event()))))
			if got := rt.Wait(context.Background(), again.Event()); !errors.Is(got, err) {
				t.Errorf("wrapped on another rank: %v is not found in %v", err, got)
			}
			must(t, spend(rt, 40))
			check("later")
		})
	}
}
