package vtime

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestTimes: overhead at both ends, latency between them, and a rate that keeps both busy.
func TestTimes(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		link  Link
		sends func(n *Net[int])
		want  []string // "time end from message"
	}{
		"latency alone": {
			Link{Latency: ms},
			func(n *Net[int]) { n.Send(0, 1, 100, 1, 7); n.Send(2, 1, 100, 1, 8) },
			[]string{"1ms 1 0 7", "1ms 1 2 8"},
		},
		"overhead of one sender, and of one receiver": {
			Link{Latency: 10 * ms, Overhead: ms},
			func(n *Net[int]) { n.Send(0, 1, 1, 1, 7); n.Send(0, 2, 1, 1, 8); n.Send(3, 1, 1, 1, 9) },
			[]string{"12ms 1 0 7", "13ms 1 3 9", "13ms 2 0 8"},
		},
		"packets": {
			Link{Latency: 10 * ms, Overhead: ms},
			func(n *Net[int]) { n.Send(0, 1, 1, 3, 7) },
			[]string{"14ms 1 0 7"},
		},
		"rate": {
			Link{Rate: 1e6},
			func(n *Net[int]) { n.Send(0, 1, 1000, 1, 7); n.Send(2, 1, 1000, 1, 8) },
			[]string{"1ms 1 0 7", "2ms 1 2 8"},
		},
		"alarm": {
			Link{Latency: ms},
			func(n *Net[int]) { n.After(1, 3*ms, 9); n.Send(0, 1, 1, 1, 7) },
			[]string{"1ms 1 0 7", "3ms 1 -1 9"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := New[int](4, c.link)
			var got []string
			n.Take = func(to, from, m int) { got = append(got, fmt.Sprint(n.Now, to, from, m)) }
			c.sends(n)
			n.Run()
			if !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestOrder: many events come in the order of their times, and of their making.
func TestOrder(t *testing.T) {
	n := New[int](1, Link{})
	var got []int
	n.Take = func(_, _, m int) { got = append(got, m) }
	for i := range 1000 {
		n.After(0, time.Duration(i*7919%100), i)
	}
	n.Run()
	key := func(i int) int { return i * 7919 % 100 * 1000 }
	if len(got) != 1000 || !slices.IsSortedFunc(got, func(a, b int) int { return key(a) + a - key(b) - b }) {
		t.Errorf("%d events, not in order", len(got))
	}
}

// TestTraffic counts what is sent.
func TestTraffic(t *testing.T) {
	n := New[int](2, Link{})
	n.Take = func(int, int, int) {}
	n.Send(1, 0, 10, 1, 0)
	n.Send(1, 0, 20, 2, 0)
	if last := n.Run(); last != 0 || n.Sent[1] != (Traffic{3, 30}) || n.Sent[0] != (Traffic{}) {
		t.Errorf("%+v after %v", n.Sent, last)
	}
}
