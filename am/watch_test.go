package am

import (
	"testing"

	"github.com/golci/golci/conduit"
)

// TestWatch: the words are given when nothing waits to be sent, and what is owed is paid when the caller is idle.
func TestWatch(t *testing.T) {
	es := endpoints(t, 2, variant{cfg: conduit.Config{Loan: 100, MaxRecord: 1024}}, Config{Loan: 100})
	ignore(t, es)
	if err := es[0].RequestShort(1, 1); err != nil {
		t.Fatal(err)
	}
	if _, ok := es[1].Watch(nil, false); ok {
		t.Error("there are words while a request waits to be polled")
	}
	es[1].Poll()
	for _, idle := range []bool{false, true} {
		if words, ok := es[1].Watch(nil, idle); !ok || len(words) == 0 {
			t.Errorf("idle %v: %d words, %v", idle, len(words), ok)
		}
		want := 1
		if idle {
			want = 0
		}
		if n := es[1].recv.ledger.Owed(0); n != want {
			t.Errorf("idle %v: %d credits are owed, want %d", idle, n, want)
		}
	}
	if es[1].Lock(0) != Stalled {
		t.Fatal("rank 0 is not there")
	}
	es[1].Enqueue(0, &refused{})
	if _, ok := es[1].Watch(nil, true); ok {
		t.Error("there are words while something waits to be sent")
	}
	es[1].Withdraw(0, es[1].senderOf(0).normal.head)
	if _, ok := endpoints(t, 2, variant{bare: true}, Config{})[0].Watch(nil, true); ok {
		t.Error("there are words of a conduit that has none")
	}
}
