package opstate

import (
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	idle State = iota
	open
	shut
)

const (
	answer Input = iota
	finish
)

var test = NewMachine("test", []string{"idle", "open", "shut"}, []string{"answer", "finish"},
	On(answer, open).Drop(Peer).Take(Transfer).To(shut).Do(7),
	On(finish, open, shut).Drop(Transfer),
)

// TestLife follows an operation through its steps: who is told what, and what is refused.
func TestLife(t *testing.T) {
	var w Word
	w.Begin(open, Caller|Queue|Peer)
	if _, _, ok := w.Step(test, finish); ok {
		t.Error("a transfer ended that has not begun")
	}
	if s, ok := w.Can(test, answer); !ok || s.Drop != Peer {
		t.Errorf("%+v %t", s, ok)
	}
	if did, e, ok := w.Step(test, answer); !ok || e != Nothing || did.Do != 7 || w.State() != shut || w.Hands() != Caller|Queue|Transfer {
		t.Errorf("%+v %v %t, state %d, hands %#x", did, e, ok, w.State(), w.Hands())
	}
	if _, _, ok := w.Step(test, answer); ok {
		t.Error("a second answer was taken")
	}
	if e := w.Drop(Queue); e != Nothing {
		t.Errorf("%v while a transfer is under way", e)
	}
	if _, e, ok := w.Step(test, finish); !ok || e != Completed || w.State() != shut {
		t.Errorf("%v %t", e, ok)
	}
	if w.Leave() {
		t.Error("the caller has left an operation that is complete")
	}
	if e := w.Drop(Caller); e != Freed {
		t.Errorf("%v", e)
	}
	w.Free()
	if _, ok := w.Can(test, answer); ok {
		t.Error("an operation that is not in use takes an answer")
	}
}

// TestLeave: a caller that leaves is not told of the end, and the last party frees the operation.
func TestLeave(t *testing.T) {
	for _, callerLast := range []bool{false, true} {
		var o Word
		o.Begin(open, Caller|Peer)
		if !o.Leave() || o.Leave() || !o.Left() {
			t.Error("leave")
		}
		ends := []Holders{Caller, Peer}
		if callerLast {
			ends = []Holders{Peer, Caller}
		}
		if e := o.Drop(ends[0]); e != Nothing {
			t.Errorf("%v after the first", e)
		}
		if e := o.Drop(ends[1]); e != Freed {
			t.Errorf("%v after the last", e)
		}
	}
}

func TestDropTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a party let go twice")
		}
	}()
	var o Word
	o.Begin(open, Caller|Peer)
	o.Drop(Peer)
	o.Drop(Peer)
}

// TestWrongRules: two steps for one state and input, and a step of an operation that is not in use.
func TestWrongRules(t *testing.T) {
	for _, rules := range [][]Rule{{On(finish, open), On(finish, shut, open)}, {On(finish, idle)}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v was taken", rules)
				}
			}()
			NewMachine("wrong", []string{"idle", "open", "shut"}, []string{"answer", "finish"}, rules...)
		}()
	}
}

// TestLastPartyEnds has all parties let go at once: one of them is told that the operation is complete.
func TestLastPartyEnds(t *testing.T) {
	var o Word
	for range 2000 {
		o.Begin(open, Caller|Queue|Peer|Transfer)
		var completed atomic.Int32
		var wg sync.WaitGroup
		for _, h := range []Holders{Queue, Peer, Transfer} {
			wg.Go(func() {
				if o.Drop(h) == Completed {
					completed.Add(1)
				}
			})
		}
		wg.Wait()
		if n := completed.Load(); n != 1 || o.Drop(Caller) != Freed {
			t.Fatalf("%d were told", n)
		}
	}
}
