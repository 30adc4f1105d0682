package realm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/test/pendingtest"
	"github.com/golci/golci/rank"
)

// Every call that may wait is ended by an abort, by the death of a peer and by a time limit. Finalize counts it, and a
// dump names it. So are the waits for operations that wait for their precondition.

// neverPend are calls that give an error or an event and are not in the table, by the reason.
var neverPend = map[string]string{
	"it is local": `Barrier.Alter Barrier.Event Barrier.Migrate Barrier.Result CompletionQueue.NonEmpty Ctx.Finish
		FastReservation.Unlock NewArray NewBarrier NewExternal NewFold NewInstance NewList NewReservation
		Profiler.NewInstance Runtime.AdviseOrder Runtime.CancelOperation Runtime.HasTriggered Runtime.NewGroup
		Runtime.SetOperationPriority Runtime.Subscribe TargetOf UserEvent.Cancel UserEvent.Event ViewOf`,
	"nothing waits for the act that it defers": `Barrier.Destroy CompletionQueue.Add Reservation.Destroy
		Reservation.Release Runtime.Shutdown`,
	"its event waits for a holder of this rank, in no list": `FastReservation.Lock`,
	"it begins or ends the job": `Init New Run RunWith Runtime.Abort Runtime.Begin Runtime.Finalize
		Start`,
	"it is of no exported type": `folder.Fold`,
}

func TestPendingIsComplete(t *testing.T) {
	var names []string
	for _, r := range pendingRows() {
		names = append(names, r.name)
		for _, reason := range r.except {
			pendingtest.Says(t, r.name, reason)
		}
	}
	pendingtest.Complete(t, names, neverPend, "Event")
}

// begin is the row as a call of rank 1. gate is an event of rank 0 that nothing else waits for.
func (r pendingRow) begin(rt *Runtime, gate Event, limit context.Context) *pendingtest.Call {
	x := &pendingCase{rt, gate, limit}
	c := &pendingtest.Call{Name: strings.TrimSpace(r.name + " " + r.in), Shows: cmp.Or(r.shows, r.name)}
	if r.start == nil {
		c.Do = func() error { return r.call(x) }
		return c
	}
	c.Do = func() error { return rt.Wait(x.ctx, r.start(x)) }
	c.Mine = func(o *pending.Op) bool { return o.Call == "Runtime.Wait" }
	return c
}

var pendingNets = []string{"local", "udp"}

// pendingJob has the rows that a column concerns wait at once on rank 1. Then rank 0 does act, and then rank 1 sees.
func pendingJob(conduit, column string, limit context.Context, act func(rt *Runtime) error,
	see func(rt *Runtime, calls []*pendingtest.Call) error,
) error {
	var rts [2]*Runtime
	var began sync.WaitGroup
	began.Add(2)
	waiting := make(chan struct{})
	return RunWith(2, rankConfig(conduit), func(rt *Runtime) error {
		rts[rt.ev.Self] = rt
		rt.ignoreQuestions.Store(true)
		began.Done()
		began.Wait()
		if rt.ev.Self == 0 {
			<-waiting
			return act(rt)
		}
		var calls []*pendingtest.Call
		for _, r := range pendingRows() {
			if r.except[column] == "" {
				calls = append(calls, r.begin(rt, rts[0].NewUserEvent().Event(), limit))
			}
		}
		err := pendingtest.Begin(rt.ev.Endpoint.Pending(), calls)
		if err == nil {
			err = allListed(rt, column)
		}
		close(waiting)
		if err != nil {
			return err
		}
		return see(rt, calls)
	}, Config{CPUs: 2})
}

// allListed tells whether the registry has what all rows of a column wait for, by the name of the call.
func allListed(rt *Runtime, column string) (err error) {
	left := make(map[string]int)
	for _, o := range rt.ev.Endpoint.Pending().Ops() {
		left[o.Call]++
	}
	alias := map[string]string{
		"SpawnEach": "Spawn", "CollectiveSpawn": "Spawn", "GatherBy": "Gather", "ScatterBy": "Scatter",
		"Runtime.MergeIgnoringFaults": "Runtime.Merge",
	}
	for _, r := range pendingRows() {
		name := cmp.Or(alias[r.name], r.name)
		if left[name]--; r.except[column] == "" && left[name] < 0 {
			err = errors.Join(err, fmt.Errorf("%w: %s is not in the registry", pendingtest.ErrOther, r.name))
		}
	}
	return err
}

// errSeen ends a job whose ranks are out of step.
var errSeen = errors.New("all has been seen")

func TestPendingAborted(t *testing.T) {
	for _, conduit := range pendingNets {
		var failed error
		err := pendingJob(conduit, byAbort, context.Background(), func(*Runtime) error { return errTest },
			func(_ *Runtime, calls []*pendingtest.Call) error {
				failed = errors.Join(pendingtest.Ended(calls, ErrClosed), pendingtest.Ended(calls, rank.ErrAborted))
				return nil
			})
		if !errors.Is(err, errTest) || failed != nil {
			t.Errorf("%s: %v; the job: %v", conduit, failed, err)
		}
	}
}

// TestPendingLost: rank 0 can be reached no more.
func TestPendingLost(t *testing.T) {
	var failed error
	seen := make(chan struct{})
	err := pendingJob("local", byDeath, context.Background(),
		func(rt *Runtime) error {
			err := rt.ev.Endpoint.Conduit().Close()
			<-seen
			return errors.Join(err, errSeen)
		},
		func(_ *Runtime, calls []*pendingtest.Call) error {
			defer close(seen)
			failed = pendingtest.Ended(calls, ErrPeer)
			return errSeen
		})
	if !errors.Is(err, errSeen) || failed != nil {
		t.Errorf("%v; the job: %v", failed, err)
	}
}

func TestPendingLimited(t *testing.T) {
	for _, conduit := range pendingNets {
		ctx, end := context.WithCancelCause(t.Context())
		err := pendingJob(conduit, byLimit, ctx, func(*Runtime) error { return nil },
			func(_ *Runtime, calls []*pendingtest.Call) error {
				end(errTest)
				return errors.Join(pendingtest.Ended(calls, errTest), errSeen)
			})
		if !errors.Is(err, errSeen) || errors.Is(err, pendingtest.ErrOther) {
			t.Errorf("%s: %v", conduit, err)
		}
	}
}

// TestPendingFinalized: Finalize tells how many calls and operations are left. The calls end, or the thread of a task
// unwinds: it may be closed before it has run again.
func TestPendingFinalized(t *testing.T) {
	for _, conduit := range pendingNets {
		var failed error
		err := pendingJob(conduit, byFinal, context.Background(), func(*Runtime) error { return nil },
			func(rt *Runtime, calls []*pendingtest.Call) error {
				want := fmt.Sprintf("%d operations", len(rt.ev.Endpoint.Pending().Ops()))
				err := rt.Finalize(context.Background())
				failed = pendingtest.Ended(calls, ErrClosed, errUnwound)
				if !errors.Is(err, ErrPending) || !strings.Contains(fmt.Sprint(err), want) {
					failed = errors.Join(failed, fmt.Errorf("%w: want %s: %w", pendingtest.ErrOther, want, err))
				}
				return nil
			})
		if failed != nil || err != nil {
			t.Errorf("%s: %v; the job: %v", conduit, failed, err)
		}
	}
}

func TestPendingIsDumped(t *testing.T) {
	err := pendingJob("local", inDump, context.Background(), func(*Runtime) error { return nil },
		func(rt *Runtime, calls []*pendingtest.Call) error {
			pendingtest.Named(rt.ev.OfRank.Dump, calls)
			return errSeen
		})
	if !errors.Is(err, errSeen) {
		t.Error(err)
	}
}
