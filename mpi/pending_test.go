package mpi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/test/pendingtest"
)

// Every call that may wait is ended by an abort, by the death of a peer, by a revocation and by a time limit. Finalize
// counts it, and a dump names it. TestPendingIsComplete finds calls that are not in the table.

func pendingRows() (rows []pendingRow) {
	for _, some := range [][]pendingRow{pointRows(), collectiveRows(), makingRows(), windowRows()} {
		rows = append(rows, some...)
	}
	return rows
}

func lowerFirst(s string) string { return string(unicode.ToLower(rune(s[0]))) + s[1:] }

// base is the name of a function without the type of its receiver.
func base(name string) string { return name[strings.LastIndex(name, ".")+1:] }

// waitingCall is a row that is carried out.
type waitingCall struct {
	pendingRow
	c *Comm // of its own
	w *Win[int]
}

// What calls of rows find by the name of their communicator, which is the row's.
var pendingViews, pendingWindows sync.Map

func limitOf(c *Comm) context.Context {
	ctx, ok := pendingViews.Load(c.Name())
	if !ok {
		return context.Background()
	}
	return ctx.(context.Context)
}

func windowOf(c *Comm) *Win[int] {
	w, _ := pendingWindows.Load(c.Name())
	return w.(*Win[int])
}

// prepare makes the communicators of the rows that a column concerns. Both ranks call it. tag tells tests at the same
// time apart.
func prepare(c *Comm, tag, column string, rows []pendingRow) (calls []*waitingCall, err error) {
	for i, row := range rows {
		if row.except[column] != "" || column == byFinal && row.start == nil {
			continue
		}
		x := &waitingCall{pendingRow: row}
		switch row.on {
		case "ring":
			x.c, err = c.CreateCart([]int{2}, []bool{true}, false)
		case "inter":
			var half *Comm
			if half, err = c.Split(c.Rank(), 0); err == nil {
				x.c, err = half.CreateInter(0, c, 1-c.Rank(), i)
			}
		default:
			x.c, err = c.Dup()
		}
		if err == nil {
			err = x.c.SetName(fmt.Sprintf("%s %s %d", tag, column, i))
		}
		if err == nil && row.on == "win" {
			if x.w, err = AllocateWin[int](x.c, 1); err == nil && c.Rank() == 0 && strings.Contains(row.name, "Lock") {
				err = x.w.Lock(LockExclusive, 0, 0)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", row.name, err)
		}
		calls = append(calls, x)
	}
	return calls, nil
}

// make makes the call, in a view where ctx is not nil.
func (x *waitingCall) make(ctx context.Context) error {
	c := x.c
	if ctx != nil {
		c = c.WithContext(ctx)
	}
	if x.start == nil {
		return x.call(c)
	}
	q, err := x.start(c)
	switch {
	case err != nil:
		return err
	case ctx != nil:
		return second(q.WaitContext(ctx))
	}
	return second(q.Wait())
}

// mine tells what may be of the call. A window has a communicator of its own.
func (x *waitingCall) mine(o *pending.Op) bool {
	return x.w != nil || o.Context != pending.NoContext && o.Context/2 == x.c.core().Ctx/2
}

func (x *waitingCall) shown() string { return cmp.Or(x.shows, base(x.name)) }

// beginAll makes all calls on rank 1, and returns when all of them wait.
func beginAll(c *Comm, rows []*waitingCall, ctx context.Context) (calls []*pendingtest.Call, err error) {
	for _, x := range rows {
		if x.w != nil {
			pendingWindows.Store(x.c.Name(), x.w)
		}
		if ctx != nil {
			pendingViews.Store(x.c.Name(), ctx)
		}
		p := &pendingtest.Call{Name: x.name, Shows: x.shown(), Do: func() error { return x.make(ctx) }, Mine: x.mine}
		if x.w == nil && !x.nowhere {
			p.On = x.c.Name()
		}
		calls = append(calls, p)
	}
	return calls, pendingtest.Begin(c.Proc().Server().Endpoint().Pending(), calls)
}

var pendingConduits = []string{"local", "udp"}

// pendingJob has the calls of rows wait at once on rank 1. Then rank 0 does act, and then rank 1 sees, each with the
// calls. The job ends with what they return.
func pendingJob(t *testing.T, conduit, column string, rows []pendingRow, limit context.Context,
	act func(c *Comm, calls []*waitingCall) error, see func(c *Comm, calls []*pendingtest.Call) error,
) error {
	waiting := make(chan struct{})
	return job(t, 2, func(c *Comm) error {
		mine, err := prepare(c, conduit, column, rows)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			<-waiting
			return act(c, mine)
		}
		calls, err := beginAll(c, mine, limit)
		close(waiting)
		if err != nil {
			return err
		}
		return see(c, calls)
	}, With("GOLCI_CONDUIT", conduit))
}

func TestPendingAborted(t *testing.T) {
	for _, conduit := range pendingConduits {
		var failed error
		err := pendingJob(t, conduit, byAbort, pendingRows(), nil,
			func(*Comm, []*waitingCall) error { return errBoom },
			func(_ *Comm, calls []*pendingtest.Call) error {
				failed = pendingtest.Ended(calls, ErrAborted)
				return failed
			})
		if !errors.Is(err, errBoom) || failed != nil {
			t.Errorf("%s: %v; the job: %v", conduit, failed, err)
		}
	}
}

func TestPendingRevoked(t *testing.T) {
	for _, conduit := range pendingConduits {
		err := pendingJob(t, conduit, byRevoke, pendingRows(), nil,
			func(c *Comm, calls []*waitingCall) (err error) {
				for _, x := range calls {
					err = errors.Join(err, x.c.Revoke())
				}
				return errors.Join(err, c.Barrier())
			},
			func(c *Comm, calls []*pendingtest.Call) error {
				return errors.Join(pendingtest.Ended(calls, ErrRevoked), c.Barrier())
			})
		if err != nil {
			t.Errorf("%s: %v", conduit, err)
		}
	}
}

func TestPendingLimited(t *testing.T) {
	for _, conduit := range pendingConduits {
		ctx, end := context.WithCancelCause(context.Background())
		err := pendingJob(t, conduit, byLimit, pendingRows(), ctx,
			func(c *Comm, _ []*waitingCall) error { return c.Barrier() },
			func(c *Comm, calls []*pendingtest.Call) error {
				end(errBoom)
				return errors.Join(pendingtest.Ended(calls, errBoom), c.Barrier(), errSeen)
			})
		if !errors.Is(err, errSeen) || strings.Contains(err.Error(), pendingtest.ErrOther.Error()) {
			t.Errorf("%s: %v", conduit, err)
		}
	}
}

// errSeen ends a job whose ranks are out of step.
var errSeen = errors.New("all has been seen")

func TestPendingFinalized(t *testing.T) {
	for _, conduit := range pendingConduits {
		var finalized error
		err := pendingJob(t, conduit, byFinal, pendingRows(), nil,
			func(c *Comm, _ []*waitingCall) error { return nil },
			func(c *Comm, calls []*pendingtest.Call) error {
				finalized = c.Proc().Finalize()
				if want := fmt.Sprintf("%d operations", len(calls)); !strings.Contains(fmt.Sprint(finalized), want) {
					return fmt.Errorf("%w: want %s: %w", pendingtest.ErrOther, want, finalized)
				}
				return pendingtest.Ended(calls, ErrFinalized)
			})
		if !errors.Is(finalized, ErrPending) || err != nil {
			t.Errorf("%s: Finalize: %v; the job: %v", conduit, finalized, err)
		}
	}
}

func TestPendingIsDumped(t *testing.T) {
	const some = 50 // rows at a time, so that the dump has all lines
	for rows := range slices.Chunk(pendingRows(), some) {
		err := pendingJob(t, "local", inDump, rows, nil,
			func(c *Comm, _ []*waitingCall) error { return c.Barrier() },
			func(c *Comm, calls []*pendingtest.Call) error {
				pendingtest.Named(c.Proc().Dump, calls)
				return errSeen
			})
		if !errors.Is(err, errSeen) {
			t.Error(err)
		}
	}
}
