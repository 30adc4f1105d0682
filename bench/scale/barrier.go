package scale

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/golci/golci/bench/scale/vtime"
	"github.com/golci/golci/internal/schedule"
)

// recordBytes is the record of a message without payload: a header of 16 bytes, and its key.
const recordBytes = 24

// meeting is one rank in a barrier: the steps of package schedule, and those messages that came before their receive.
type meeting struct {
	steps schedule.Schedule
	run   schedule.Run
	early map[int32]int // messages, by rank
	posts map[int32]int // number of the receive that waits, by rank
}

// barrier has all ranks enter a barrier of MPI over messages at once.
func barrier(ctx context.Context, c Config, n int) (outcome, error) {
	ranks := make([]meeting, n)
	net := vtime.New[struct{}](n, c.Link)
	net.Take = func(to, from int, _ struct{}) {
		m := &ranks[to]
		i, waits := m.posts[int32(from)]
		if !waits {
			m.early[int32(from)]++
			return
		}
		delete(m.posts, int32(from))
		m.run.Done(i)
		m.advance(net, to)
	}
	for r := range ranks {
		ranks[r] = newMeeting(r, n)
		ranks[r].advance(net, r)
	}
	o := outcome{time: net.Run(), ranks: net.Sent, state: weigh(func() *meeting { m := newMeeting(0, n); return &m })}
	for r := range ranks {
		if !ranks[r].run.Over() {
			return o, fmt.Errorf("%w: rank %d has not left the barrier", ErrJob, r)
		}
	}
	return o, ctx.Err()
}

func newMeeting(rank, n int) meeting {
	m := meeting{early: map[int32]int{}, posts: map[int32]int{}}
	m.steps.Steps = make([]schedule.Step, 0, 2*bits.Len(uint(n-1)))
	m.steps.Barrier(schedule.Place{Rank: rank, Size: n})
	m.run.Begin(&m.steps, 0)
	return m
}

// advance starts the steps that may be started.
func (m *meeting) advance(net *vtime.Net[struct{}], rank int) {
	for {
		s, i := m.run.Next()
		if s == nil {
			return
		}
		switch {
		case s.Kind == schedule.Send:
			net.Send(rank, int(s.Peer), recordBytes, 1, struct{}{})
			m.run.Done(i)
		case m.early[s.Peer] > 0:
			m.early[s.Peer]--
			m.run.Done(i)
		default:
			m.posts[s.Peer] = i
		}
	}
}
