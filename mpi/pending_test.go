package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/golci/golci/internal/pending"
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
	c   *Comm // of its own
	w   *Win[int]
	err error // once done is closed
	// Closed when the call has returned.
	done chan struct{}
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
		x := &waitingCall{pendingRow: row, done: make(chan struct{})}
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
			err = x.c.SetName(fmt.Sprintf("%s %s %s", tag, column, row.name))
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

// begin makes the call on rank 1, in a view where ctx is not nil.
func (x *waitingCall) begin(ctx context.Context) {
	if x.w != nil {
		pendingWindows.Store(x.c.Name(), x.w)
	}
	c := x.c
	if ctx != nil {
		pendingViews.Store(x.c.Name(), ctx)
		c = c.WithContext(ctx)
	}
	go func() {
		defer close(x.done)
		if x.start == nil {
			x.err = x.call(c)
			return
		}
		q, err := x.start(c)
		if err != nil {
			x.err = err
			return
		}
		if ctx != nil {
			_, x.err = q.WaitContext(ctx)
		} else {
			_, x.err = q.Wait()
		}
	}()
}

// listed counts what may be of the call in the registry of the rank.
func (x *waitingCall) listed(ops []pending.Op) (n int) {
	ctx := x.c.core().Ctx
	for _, o := range ops {
		mine := o.Context != pending.NoContext && o.Context/2 == ctx/2
		if !o.Unexpected() && (mine || x.w != nil || o.Call == x.shown()) { // a window has a communicator of its own
			n++
		}
	}
	return n
}

func (x *waitingCall) shown() string {
	if x.shows != "" {
		return x.shows
	}
	return base(x.name)
}

// beginAll makes all calls on rank 1, one after the other, and returns when all of them wait.
func beginAll(c *Comm, calls []*waitingCall, ctx context.Context) error {
	reg := c.Proc().Server().Endpoint().Pending()
	for _, x := range calls {
		before := x.listed(reg.Ops())
		x.begin(ctx)
		for x.listed(reg.Ops()) <= before {
			select {
			case <-x.done:
				return fmt.Errorf("%s does not wait: %w", x.name, x.err)
			default:
				runtime.Gosched()
			}
		}
	}
	return nil
}

// ended waits for all calls, and tells which have not ended with want.
func ended(calls []*waitingCall, want error) (err error) {
	for _, x := range calls {
		<-x.done
		if !errors.Is(x.err, want) {
			err = errors.Join(err, fmt.Errorf("%s: want %w: %w", x.name, want, errors.Join(x.err, errNone)))
		}
	}
	return err
}

var errNone = errors.New("not that error")

var pendingConduits = []string{"local", "udp"}

// pendingJob has the calls of rows wait at once on rank 1. Then rank 0 does act, and then rank 1 sees, each with the
// calls. The job ends with what they return.
func pendingJob(t *testing.T, conduit, column string, rows []pendingRow, limit context.Context,
	act, see func(c *Comm, calls []*waitingCall) error,
) error {
	waiting := make(chan struct{})
	return job(t, 2, func(c *Comm) error {
		calls, err := prepare(c, conduit, column, rows)
		if err != nil {
			return err
		}
		if c.Rank() == 0 {
			<-waiting
			return act(c, calls)
		}
		err = beginAll(c, calls, limit)
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
			func(_ *Comm, calls []*waitingCall) error {
				failed = ended(calls, ErrAborted)
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
			func(c *Comm, calls []*waitingCall) error {
				return errors.Join(ended(calls, ErrRevoked), c.Barrier())
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
			func(c *Comm, calls []*waitingCall) error {
				end(errBoom)
				return errors.Join(ended(calls, errBoom), c.Barrier(), errSeen)
			})
		if !errors.Is(err, errSeen) || strings.Contains(err.Error(), errNone.Error()) {
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
			func(c *Comm, calls []*waitingCall) error {
				finalized = c.Proc().Finalize()
				if want := fmt.Sprintf("%d operations", len(calls)); !strings.Contains(fmt.Sprint(finalized), want) {
					return fmt.Errorf("%w: want %s: %w", errNone, want, finalized)
				}
				return ended(calls, ErrFinalized)
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
			func(c *Comm, calls []*waitingCall) error {
				for _, x := range calls {
					for !x.named(dumpOf(c)) { // a blocking collective gives its name once it has spun in vain
						runtime.Gosched()
					}
				}
				return errSeen
			})
		if !errors.Is(err, errSeen) {
			t.Error(err)
		}
	}
}

func dumpOf(c *Comm) string {
	var b bytes.Buffer
	c.Proc().Dump(&b)
	return b.String()
}

// named tells whether a line of a dump names the call.
func (x *waitingCall) named(dump string) bool {
	for line := range strings.Lines(dump) {
		if strings.Contains(line, x.shown()) {
			return true
		}
	}
	return false
}
