package mpi

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
)

// settleTime is how long Finalize waits for a thread or an operation to end after the last one has. It is far more than a thread
// needs whose last act has woken the caller of Finalize, or a message that has been sent.
const settleTime = 100 * time.Millisecond

// settleUnseen is settleTime where nothing tells a thread that computes from one that waits, as under the race
// detector: more than the kernel keeps a thread from a busy processor.
const settleUnseen = time.Second

// settleStep is the time between two looks at what is left, and settlePolls the number of looks before that, without a pause.
const (
	settleStep  = time.Millisecond
	settlePolls = 100
)

// settling is Finalize's wait for threads and operations. Owned by the caller of Finalize.
type settling struct {
	p     *Proc
	limit time.Duration // settleTime or settleUnseen
	begun time.Time
	named bool       // the thread that is waited for has been named
	since time.Time  // when something ended last
	round fult.Round // since then
	left  remains
}

// remains is what has not ended.
type remains struct {
	threads int
	ops     []comm.Pending
}

// settle returns nil when all threads and operations have ended, or ErrPending when those that are left will not end by themselves.
func (p *Proc) settle(ctx context.Context) error {
	now := time.Now()
	x := settling{p: p, limit: p.settleLimit(), begun: now, since: now, round: p.sched.Round(), left: p.remains()}
	for n := 0; ; n++ {
		over := x.over()
		changed := x.look() // after over: what ended before over came true is seen here
		switch {
		case x.left.none():
			return nil
		case p.ended() != nil || ctx.Err() != nil || over && !changed:
			return p.pendingError(x.left)
		}
		if n < settlePolls {
			runtime.Gosched()
		} else {
			time.Sleep(settleStep)
			x.name()
		}
		p.srv.Poll()
	}
}

// settleLimit is how long the last end must have been for what is left to count as left over.
func (p *Proc) settleLimit() time.Duration {
	if p.sched.Kind() == fult.Fult {
		return settleTime
	}
	return settleUnseen
}

// look says whether anything has ended since the last look.
func (x *settling) look() (changed bool) {
	left := x.p.remains()
	changed = left.threads != x.left.threads || len(left.ops) != len(x.left.ops)
	if changed {
		x.since, x.round = time.Now(), x.p.sched.Round()
	}
	x.left = left
	return changed
}

// over says that nothing ends any more, and no thread computes.
func (x *settling) over() bool { return time.Since(x.since) >= x.limit && x.round.Over() }

// name tells the user, once, which thread Finalize waits for.
func (x *settling) name() {
	if x.named || x.p.stuckAfter <= 0 || time.Since(x.begun) < x.p.stuckAfter || x.left.threads == 0 {
		return
	}
	x.named = true
	if r, ok := x.p.sched.Unended(); ok {
		r.Closing, r.For = true, time.Since(x.begun)
		x.p.reportStuck(r)
	}
}

// remains tells what has not ended: threads, and this rank's own operations but those that the program has given up.
func (p *Proc) remains() remains {
	r := remains{threads: p.sched.Live()}
	for _, x := range p.srv.Pending() {
		if !x.Unexpected() && !x.GivenUp {
			r.ops = append(r.ops, x)
		}
	}
	return r
}

func (r remains) none() bool { return r.threads == 0 && len(r.ops) == 0 }

func (p *Proc) pendingError(left remains) error {
	var parts []string
	if left.threads > 0 {
		parts = append(parts, fmt.Sprintf("%s not ended", plural(left.threads, "thread has", "threads have")))
	}
	if len(left.ops) > 0 {
		parts = append(parts, fmt.Sprintf("%s, the first is %s", plural(len(left.ops), "operation", "operations"), p.callLine(left.ops[0])))
	}
	return fmt.Errorf("mpi: Finalize: rank %d: %w: %s", p.job.Rank, ErrPending, strings.Join(parts, "; "))
}

// plural is n with the word for it.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprint(n, " ", many)
}

// unended names a thread that has not ended.
func (p *Proc) unended() string {
	r, ok := p.sched.Unended()
	if !ok {
		return plural(p.sched.Live(), "thread has", "threads have") + " not ended"
	}
	return fmt.Sprintf("%s not ended, the first is thread %v\n%s", plural(p.sched.Live(), "thread has", "threads have"), r.ID, r.Stack)
}

// reportStuck tells the user of a worker or a thread that does not move. The scheduler's monitor calls it, too.
func (p *Proc) reportStuck(r fult.StuckReport) {
	what := strings.TrimPrefix(r.String(), "fult: ")
	if r.Closing {
		what = fmt.Sprintf("Finalize waits for thread %v, for %v now\n%s", r.ID, r.For.Round(time.Millisecond), r.Advice())
	}
	fmt.Fprintf(os.Stderr, "golci: rank %d of %d: %s\n", p.job.Rank, p.job.Size, what)
}
