//go:build unix

package launch

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestCauseInAnyOrder plays all orders in which the launcher can hear of the ends of the ranks. Each rank's own events
// keep their order. The time after the first failure ends at any moment. The code of the job is always the cause's.
func TestCauseInAnyOrder(t *testing.T) {
	exit := func(rank, code int) event {
		return func(p *policy) []order { return p.rankExited(rank, Status{Code: code, joined: true}) }
	}
	abort := func(rank, code int) event {
		return func(p *policy) []order { return p.rankFailed(rank, code, "abort", true) }
	}
	barrier := func(rank int) event {
		return func(p *policy) []order { return p.rankFailed(rank, 1, "barrier", false) }
	}
	follows := func(rank, of int) event {
		return func(p *policy) []order { return p.rankFollows(rank, of) }
	}
	killed := func(rank int) event {
		return func(p *policy) []order { return p.rankExited(rank, Status{Signal: syscall.SIGSEGV}) }
	}
	for name, c := range map[string]struct {
		ranks [][]event
		code  int
	}{
		"exit":       {[][]event{{follows(0, 1), abort(0, 58), exit(0, 58)}, {exit(1, 3)}, {follows(2, 1), exit(2, 9)}}, 3},
		"abort":      {[][]event{{follows(0, 1), abort(0, 58), exit(0, 58)}, {abort(1, 5), exit(1, 5)}, {follows(2, 1), exit(2, 7)}}, 5},
		"chain":      {[][]event{{follows(0, 2), abort(0, 58), exit(0, 58)}, {exit(1, 3)}, {follows(2, 1), abort(2, 60), exit(2, 60)}}, 3},
		"signal":     {[][]event{{follows(0, 1), abort(0, 200), exit(0, 200)}, {killed(1)}, {follows(2, 1), exit(2, 250)}}, 139},
		"barrier":    {[][]event{{barrier(1), follows(0, 1), exit(0, 58)}, {exit(1, 3)}}, 3},
		"two causes": {[][]event{{follows(0, 1), exit(0, 58)}, {exit(1, 3)}, {follows(0, 2), exit(2, 4)}}, 4},
		"unfinished": {[][]event{{follows(0, 1), abort(0, 58), exit(0, 58)}, {exit(1, 0)}}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			orders(c.ranks, nil, func(all []event) {
				for when := range len(all) + 1 {
					n++
					if code := play(len(c.ranks), all, when); code != c.code {
						t.Fatalf("order %d: code %d, want %d", n, code, c.code)
					}
				}
			})
			if n < len(c.ranks) {
				t.Errorf("%d orders", n)
			}
		})
	}
}

// event is something that the launcher hears.
type event func(p *policy) []order

// orders calls f with each sequence of all events that keeps the order of every list.
func orders(lists [][]event, so []event, f func([]event)) {
	done := true
	for i, l := range lists {
		if len(l) == 0 {
			continue
		}
		done = false
		rest := slices.Clone(lists)
		rest[i] = l[1:]
		orders(rest, append(slices.Clip(so), l[0]), f)
	}
	if done {
		f(so)
	}
}

// play ends the time that the ranks have after a failure before event number when, if there is a failure then.
func play(ranks int, all []event, when int) int {
	p := newPolicy(ranks, time.Second, time.Minute)
	for i, e := range all {
		if i == when && p.phase == failing {
			p.alarmRang()
		}
		e(p)
	}
	return p.code
}
