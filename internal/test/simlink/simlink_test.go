package simlink

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	us = time.Microsecond
	ms = time.Millisecond
)

// recorder is an end that notes what comes, and sends what it is told to at a time.
type recorder struct {
	n     *Net
	id    int
	due   time.Duration
	dst   int
	sends []string
	got   []string
	polls []time.Duration
}

func (r *recorder) Incoming(src int, packet []byte, now time.Duration) {
	r.got = append(r.got, fmt.Sprintf("%s from %d at %v", packet, src, now))
	clear(packet) // it is the Net's, which must not have given it to anybody else
}

func (r *recorder) Next() time.Duration {
	if len(r.sends) == 0 {
		return Never
	}
	return r.due
}

func (r *recorder) Poll(now time.Duration) {
	r.polls = append(r.polls, now)
	if r.Next() > now {
		return
	}
	for _, s := range r.sends {
		b := []byte(s)
		r.n.Send(r.id, r.dst, b)
		clear(b)
	}
	r.sends = nil
}

// two is a network with two recorders.
func two(fate Fate) (n *Net, a, b *recorder) {
	n = &Net{Fate: fate}
	a, b = &recorder{n: n}, &recorder{n: n}
	a.id, b.id = n.Join(a), n.Join(b)
	return n, a, b
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// TestRun follows packets of both ends: what comes at one time comes in the order in which it was sent, a repeated
// one twice, and nothing happens at or after the end.
func TestRun(t *testing.T) {
	n, a, b := two(func(_, dst int, packet []byte, now time.Duration) []time.Duration {
		switch string(packet) {
		case "lost":
			return nil
		case "twice":
			return []time.Duration{now + 3*ms, now + ms}
		case "spoilt":
			packet[0] = 'S'
		}
		return []time.Duration{now + ms}
	})
	a.dst, a.due, a.sends = 1, ms, []string{"one", "lost", "twice", "spoilt"}
	b.dst, b.due, b.sends = 0, 2*ms, []string{"answer"}
	n.Run(3 * ms)
	if n.Now != 3*ms {
		t.Errorf("the end is at %v", n.Now)
	}
	equal(t, "before 3 ms", b.got, []string{"one from 0 at 2ms", "twice from 0 at 2ms", "Spoilt from 0 at 2ms"})
	equal(t, "before 3 ms", a.got, nil)
	if want := []time.Duration{0, ms, 2 * ms}; !slices.Equal(a.polls, want) || !slices.Equal(b.polls, want) {
		t.Errorf("polled at %v and %v, want %v", a.polls, b.polls, want)
	}
	n.Run(time.Second)
	equal(t, "at last", a.got, []string{"answer from 1 at 3ms"})
	equal(t, "at last", b.got[3:], []string{"twice from 0 at 4ms"})
	if n.Step(2*time.Second) || n.Now != 2*time.Second {
		t.Errorf("something happens at %v", n.Now)
	}
}

// TestTimeIsPutForward: what should have arrived meanwhile arrives then.
func TestTimeIsPutForward(t *testing.T) {
	n, a, b := two(func(_, _ int, _ []byte, now time.Duration) []time.Duration { return []time.Duration{now + ms} })
	a.dst, a.sends = 1, []string{"x"}
	n.Poll()
	n.Deliver()
	equal(t, "at once", b.got, nil)
	n.Now = time.Minute
	n.Deliver()
	equal(t, "a minute later", b.got, []string{"x from 0 at 1m0s"})
}

// TestSendAllocatesNothing once there were as many packets on their way.
func TestSendAllocatesNothing(t *testing.T) {
	times := make([]time.Duration, 2)
	n, _, _ := two(func(_, _ int, _ []byte, now time.Duration) []time.Duration {
		times[0], times[1] = now+ms, now+2*ms
		return times
	})
	n.ends[1] = deaf{}
	packet := make([]byte, 1400)
	step := func() {
		if k := n.Send(0, 1, packet); k != 2 {
			t.Errorf("%d arrivals, want 2", k)
		}
		n.Now += ms
		n.Deliver()
	}
	for range 10 {
		step()
	}
	if k := testing.AllocsPerRun(100, step); k != 0 {
		t.Errorf("%v allocations a packet", k)
	}
}

// deaf is an end that does nothing.
type deaf struct{}

func (deaf) Incoming(int, []byte, time.Duration) {}
func (deaf) Next() time.Duration                 { return Never }
func (deaf) Poll(time.Duration)                  {}

// TestLink fills the queue of a link, which takes 10 us for a packet, and finds it empty later.
func TestLink(t *testing.T) {
	l := Link{Rate: 100e6, Queue: 25 * us, Delay: ms}
	const size = 1000 - Overhead
	for i, want := range []time.Duration{10 * us, 20 * us, 30 * us, 0} {
		at, ok := l.Pass(size, time.Second)
		if ok != (want > 0) || ok && at != time.Second+want+ms {
			t.Errorf("packet %d arrives at %v, %v; want %v after it was sent, and a millisecond", i, at, ok, want)
		}
	}
	if at, ok := l.Pass(size, time.Second+5*us); !ok || at != time.Second+40*us+ms {
		t.Errorf("where 25 us wait, a packet arrives at %v, %v", at, ok)
	}
	if at, ok := l.Pass(size, time.Minute); !ok || at != time.Minute+10*us+ms {
		t.Errorf("where nothing waits, a packet arrives at %v, %v", at, ok)
	}
}
