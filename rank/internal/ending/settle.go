package ending

import (
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/rank/internal/report"
)

// SettleTime is how long Finalize waits for a thread or an operation to end after the last one has. It is far more
// than a thread needs whose last act has woken the caller of Finalize, or a message that has been sent.
const SettleTime = 100 * time.Millisecond

// settleUnseen is SettleTime where nothing tells threads that compute from those that wait, as under the race detector.
const settleUnseen = time.Second

// settleStep is the time between looks at what is left, after settlePolls looks without a pause.
const (
	settleStep  = time.Millisecond
	settlePolls = 100
)

// Settling is Finalize's wait for threads and operations. Owned by the caller of Finalize.
type Settling struct {
	Threads *fult.Scheduler
	Ops     func() (n int, first func() string) // operations that have not ended; first describes one of them
	Over    func() bool                         // nothing is to be waited for any more
	Poll    func() int
	Named   time.Duration                // after which the user is told of the thread that is waited for; not if negative
	Tell    func(stuck fult.StuckReport) // tells the user

	limit time.Duration // SettleTime or settleUnseen
	begun time.Time
	named bool       // the thread that is waited for has been named
	since time.Time  // when something ended last
	round fult.Round // since then
	left  unfinished
}

// unfinished is what has not ended.
type unfinished struct {
	threads int
	ops     int
	first   func() string // describes one of ops
}

// Settle returns nil when all threads and operations have ended, or progress.ErrPending when the rest will not.
func (x *Settling) Settle() error {
	now := time.Now()
	x.limit, x.begun, x.since, x.round, x.left = x.settleLimit(), now, now, x.Threads.Round(), x.remains()
	for n := 0; ; n++ {
		over := x.isOver()
		changed := x.lookAgain() // after over: what ended before over came true is seen here
		switch {
		case x.left.none():
			return nil
		case x.Over() || over && !changed:
			return x.left.pendingError()
		}
		if n < settlePolls {
			runtime.Gosched()
		} else {
			time.Sleep(settleStep)
			x.nameThread()
		}
		x.Poll()
	}
}

// settleLimit is how long the last end must have been for what is left to count as left over.
func (x *Settling) settleLimit() time.Duration {
	if x.Threads.Kind() == fult.Fult {
		return SettleTime
	}
	return settleUnseen
}

// lookAgain says whether anything has ended since the last look.
func (x *Settling) lookAgain() (changed bool) {
	left := x.remains()
	changed = left.threads != x.left.threads || left.ops != x.left.ops
	if changed {
		x.since, x.round = time.Now(), x.Threads.Round()
	}
	x.left = left
	return changed
}

// isOver says that nothing ends any more, and no thread computes.
func (x *Settling) isOver() bool { return time.Since(x.since) >= x.limit && x.round.Over() }

// nameThread tells the user, once, which thread Finalize waits for.
func (x *Settling) nameThread() {
	if x.named || x.Named <= 0 || time.Since(x.begun) < x.Named || x.left.threads == 0 {
		return
	}
	x.named = true
	if s, ok := x.Threads.Unended(); ok {
		s.Closing, s.For = true, time.Since(x.begun)
		x.Tell(s)
	}
}

// remains tells what has not ended.
func (x *Settling) remains() unfinished {
	left := unfinished{threads: x.Threads.Live()}
	left.ops, left.first = x.Ops()
	return left
}

func (x unfinished) none() bool { return x.threads == 0 && x.ops == 0 }

func (x unfinished) pendingError() error {
	var parts []string
	if x.threads > 0 {
		parts = append(parts, fmt.Sprintf("%s not ended", report.Plural(x.threads, "thread has", "threads have")))
	}
	if x.ops > 0 {
		ops := report.Plural(x.ops, "operation", "operations")
		parts = append(parts, fmt.Sprintf("%s, the first is %s", ops, x.first()))
	}
	return fmt.Errorf("%w: %s", progress.ErrPending, strings.Join(parts, "; "))
}

// Unended names a thread that has not ended.
func Unended(threads *fult.Scheduler) string {
	text := report.Plural(threads.Live(), "thread has", "threads have") + " not ended"
	if s, ok := threads.Unended(); ok {
		text += fmt.Sprintf(", the first is thread %v\n%s", s.ID, s.Stack)
	}
	return text
}
