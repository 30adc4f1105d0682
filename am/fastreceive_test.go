package am

import (
	"slices"
	"testing"

	"github.com/golci/golci/fult"
)

// quickly takes what it is offered while on is set.
type quickly struct {
	on    bool
	next  uint16 // the number that is expected
	taken []string
}

func (q *quickly) RecvQuickly(src int, seq uint16, arg uint64, payload []byte, _ *fult.Worker) bool {
	take := q.on && src == 0 && arg == 7 && seq == q.next
	if q.next = seq + 1; take {
		q.taken = append(q.taken, string(payload))
	}
	return take
}

// TestQuick: a layer takes ordered requests of one argument and a payload quickly. What it refuses, and all others, are
// handled. The credits of each come back.
func TestQuick(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			es := endpoints(t, 2, v, Config{})
			q := &quickly{on: true}
			var handled []string
			run := func(_ *Token, _ []uint64, payload []byte) { handled = append(handled, string(payload)) }
			for _, e := range es {
				l := Layer{Name: "x", First: 10, Handlers: []Spec{
					{Name: "ordered", Run: run, MaxReply: NoReply, Ordered: true},
					{Name: "plain", Run: run, MaxReply: NoReply},
				}, Quick: q}
				if err := e.Attach(l); err != nil {
					t.Fatal(err)
				}
				l.First, l.Name = 20, "second"
				if err := e.Attach(l); err == nil {
					t.Fatal("a second layer takes requests quickly")
				}
			}
			send := func(h uint8, payload string, args ...uint64) {
				want := len(q.taken) + len(handled) + 1
				if err := es[0].RequestMedium(1, h, []byte(payload), args...); err != nil {
					t.Fatal(err)
				}
				for len(q.taken)+len(handled) < want {
					es[0].Poll()
					es[1].Poll()
				}
			}
			send(10, "a", 7)
			send(11, "plain", 7)
			q.on = false
			send(10, "refused", 7)
			q.on = true
			send(10, "two", 7, 8)
			send(10, "none")
			send(10, "", 7)
			if quick := es[1].words; (len(q.taken) == 1) != quick {
				t.Errorf("taken quickly: %q; words carry credits: %t", q.taken, quick)
			}
			if n := len(handled); n != 6-len(q.taken) || !slices.Contains(handled, "refused") {
				t.Errorf("handled: %q", handled)
			}
			for range 3000 { // more than the credits of a loan
				send(10, "again and again", 7)
			}
		})
	}
}
