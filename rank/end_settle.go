package rank

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/golci/golci/fult"
)

// settleTime is how long Finalize waits for a thread or an operation to end after the last one has. It is far more
// than a thread needs whose last act has woken the caller of Finalize, or a message that has been sent.
const settleTime = 100 * time.Millisecond

// settleUnseen is settleTime where nothing tells threads that compute from those that wait, as under the race detector.
const settleUnseen = time.Second

// settleStep is the time between looks at what is left, after settlePolls looks without a pause.
const (
	settleStep  = time.Millisecond
	settlePolls = 100
)

// finalizeWait is Finalize's wait for threads and operations. Owned by the caller of Finalize.
type finalizeWait struct {
	r     *Rank
	limit time.Duration // settleTime or settleUnseen
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

// settleAll returns nil when all threads and operations have ended, or ErrPending when the rest will not.
func (r *Rank) settleAll(ctx context.Context) error {
	now := time.Now()
	x := finalizeWait{r: r, limit: r.settleLimit(), begun: now, since: now, round: r.sched.Round(), left: r.remains()}
	for n := 0; ; n++ {
		over := x.isOver()
		changed := x.lookAgain() // after over: what ended before over came true is seen here
		switch {
		case x.left.none():
			return nil
		case r.Ended() != nil || ctx.Err() != nil || over && !changed:
			return r.pendingError(x.left)
		}
		if n < settlePolls {
			runtime.Gosched()
		} else {
			time.Sleep(settleStep)
			x.nameThread()
		}
		r.ep.Poll()
	}
}

// settleLimit is how long the last end must have been for what is left to count as left over.
func (r *Rank) settleLimit() time.Duration {
	if r.sched.Kind() == fult.Fult {
		return settleTime
	}
	return settleUnseen
}

// lookAgain says whether anything has ended since the last look.
func (x *finalizeWait) lookAgain() (changed bool) {
	left := x.r.remains()
	changed = left.threads != x.left.threads || left.ops != x.left.ops
	if changed {
		x.since, x.round = time.Now(), x.r.sched.Round()
	}
	x.left = left
	return changed
}

// isOver says that nothing ends any more, and no thread computes.
func (x *finalizeWait) isOver() bool { return time.Since(x.since) >= x.limit && x.round.Over() }

// nameThread tells the user, once, which thread Finalize waits for.
func (x *finalizeWait) nameThread() {
	after := stuckTime(x.r.opts)
	if x.named || after <= 0 || time.Since(x.begun) < after || x.left.threads == 0 {
		return
	}
	x.named = true
	if s, ok := x.r.sched.Unended(); ok {
		s.Closing, s.For = true, time.Since(x.begun)
		x.r.reportStuck(s)
	}
}

// remains tells what has not ended: threads, and the operations of the layers.
func (r *Rank) remains() unfinished {
	x := unfinished{threads: r.sched.Live()}
	for _, l := range r.attached() {
		if l.Unended == nil {
			continue
		}
		n, first := l.Unended()
		if x.ops == 0 {
			x.first = first
		}
		x.ops += n
	}
	return x
}

func (x unfinished) none() bool { return x.threads == 0 && x.ops == 0 }

func (r *Rank) pendingError(left unfinished) error {
	var parts []string
	if left.threads > 0 {
		parts = append(parts, fmt.Sprintf("%s not ended", plural(left.threads, "thread has", "threads have")))
	}
	if left.ops > 0 {
		parts = append(parts, fmt.Sprintf("%s, the first is %s", plural(left.ops, "operation", "operations"), left.first()))
	}
	return r.rankErrorf("Finalize", "%w: %s", ErrPending, strings.Join(parts, "; "))
}

// unended names a thread that has not ended.
func (r *Rank) unended() string {
	s, ok := r.sched.Unended()
	if !ok {
		return plural(r.sched.Live(), "thread has", "threads have") + " not ended"
	}
	return fmt.Sprintf("%s not ended, the first is thread %v\n%s",
		plural(r.sched.Live(), "thread has", "threads have"), s.ID, s.Stack)
}
