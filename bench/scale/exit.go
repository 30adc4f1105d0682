package scale

import (
	"context"
	"fmt"
	"time"

	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/internal/job/boot/mesh"
	"github.com/golci/golci/internal/job/exit"
)

// exitCode is that of the rank that calls for the end.
const exitCode = 3

// ending is a job that ends: the machines of package exit, and what they want sent.
type ending struct {
	net   *vtime.Net[exit.Message]
	ranks []*exit.Machine
	left  int           // ranks that have not ended
	last  time.Duration // when the last one has
	wrong error
}

var epoch = time.Unix(0, 0)

func exitAll(ctx context.Context, c Config, n int) (outcome, error) {
	return exitBy(ctx, c, n, n, 0)
}

func exitOne(ctx context.Context, c Config, n int) (outcome, error) {
	return exitBy(ctx, c, n, 1, 50*time.Millisecond)
}

// exitBy makes the first ranks call Exit at once.
func exitBy(ctx context.Context, c Config, n, callers int, settle time.Duration) (outcome, error) {
	e := &ending{net: vtime.New[exit.Message](n, c.Link), ranks: make([]*exit.Machine, n), left: n}
	e.net.Take = e.take
	make1 := func(r int) *exit.Machine {
		m, err := exit.New(exit.Config{Rank: r, Size: n, Settle: settle, Limit: time.Hour})
		if err != nil {
			e.wrong = err
		}
		return m
	}
	for r := range e.ranks {
		if e.ranks[r] = make1(r); e.wrong != nil {
			return outcome{}, e.wrong
		}
	}
	for r := range callers {
		e.do(r, e.ranks[r].Exit(epoch, exitCode))
	}
	e.net.Run()
	if e.wrong == nil && e.left > 0 {
		e.wrong = fmt.Errorf("%w: %d ranks have not ended", ErrJob, e.left)
	}
	if e.wrong == nil {
		e.wrong = ctx.Err()
	}
	return outcome{time: e.last, ranks: e.net.Sent, state: weigh(func() *exit.Machine { return make1(0) })}, e.wrong
}

// take is a message, or the end of settling.
func (e *ending) take(to, from int, m exit.Message) {
	machine, now := e.ranks[to], epoch.Add(e.net.Now)
	_, had := machine.Deadline()
	if from == vtime.Alarm {
		e.do(to, machine.Tick(now))
		return
	}
	e.do(to, machine.Take(now, from, m))
	if at, has := machine.Deadline(); has && !had {
		e.net.After(to, at.Sub(now), m)
	}
}

// do does what a machine wants.
func (e *ending) do(r int, out []exit.Action) {
	for _, a := range out {
		switch {
		case a.Kind == exit.Send:
			e.net.Send(r, a.To, exit.MessageBytes+mesh.Extra, 1, a.Msg)
		case a.Kind == exit.Finish && a.Verdict.Code == exitCode:
			e.left, e.last = e.left-1, max(e.last, e.net.Now)
		default:
			e.wrong = fmt.Errorf("%w: rank %d ends with %+v", ErrJob, r, a)
		}
	}
}
