package realm

import (
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/rank"
	"github.com/golci/golci/realm"
)

// Handler indices of the benchmark.
const (
	hBall   = 200 + iota // goes to and fro between handlers; arguments: how often still, the event of the end
	hEcho                // a request, answered by hAnswer
	hAnswer              // the reply
	hTake                // a request of a flood
)

// ball is what active messages do on the same ranks: what events between ranks are compared with.
type ball struct {
	rt      *realm.Runtime
	ep      *am.Endpoint
	answers atomic.Uint64 // replies that have come; written by a handler
}

func newBall(rt *realm.Runtime) (*ball, error) {
	b := &ball{rt: rt, ep: rt.OfRank().Endpoint()}
	specs := []am.Spec{
		{Name: "ball", Run: b.onBall, MaxReply: am.NoReply},
		{Name: "echo", Run: b.onEcho},
		{Name: "answer", Run: b.onAnswer, MaxReply: am.NoReply},
		{Name: "take", Run: func(*am.Token, []uint64, []byte) {}, MaxReply: am.NoReply},
	}
	return b, rt.OfRank().Attach(rank.Layer{Endpoint: am.Layer{Name: "bench/realm", First: hBall, Handlers: specs}})
}

// onBall sends the ball back, or ends the play.
func (b *ball) onBall(t *am.Token, args []uint64, _ []byte) {
	if args[0] > 0 {
		b.ep.Post(t.Source(), hBall, nil, args[0]-1, args[1])
		return
	}
	if err := b.rt.UserEvent(realm.Event(args[1])).Trigger(realm.NoEvent); err != nil {
		b.ep.Fault(err)
	}
}

func (b *ball) onEcho(t *am.Token, args []uint64, _ []byte) {
	if err := t.ReplyShort(hAnswer, args[0]); err != nil {
		b.ep.Fault(err)
	}
}

func (b *ball) onAnswer(*am.Token, []uint64, []byte) { b.answers.Add(1) }

// amHop is one way of a message that handlers of two ranks send each other.
func amHop(l *lab, _ int) round {
	return func() []float64 {
		over := l.rt.NewUserEvent()
		w := start()
		l.ball.ep.Post(1, hBall, nil, uint64(l.batch-1), uint64(over.Event()))
		l.wait(over.Event())
		return []float64{w.lap(l.batch)}
	}
}

// amHalf is half a round trip of a request and its reply. The task that sends it polls.
func amHalf(l *lab, _ int) round {
	return func() []float64 {
		w := start()
		for range l.batch {
			l.echo()
		}
		return []float64{w.lap(2 * l.batch)}
	}
}

// echo makes a request, and polls until its reply is there.
func (l *lab) echo() {
	b := l.ball
	want := b.answers.Load() + 1
	l.note(b.ep.RequestShort(1, hEcho, want))
	for b.answers.Load() < want && l.err == nil {
		b.ep.Poll()
		l.note(b.ep.Err())
	}
}

// amFlood is requests without a reply, and one at the end that is answered.
func amFlood(l *lab, _ int) round {
	return func() []float64 {
		w := start()
		for i := range l.flood() {
			l.note(l.ball.ep.RequestShort(1, hTake, uint64(i)))
		}
		l.echo()
		return []float64{w.lap(l.flood())}
	}
}
