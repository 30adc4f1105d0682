package machine

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

// TestLeave: a caller that leaves is not told of the end, and the last party frees the operation.
func TestLeave(t *testing.T) {
	for _, callerLast := range []bool{false, true} {
		var o Word
		o.Begin(open, Caller|Peer)
		if !o.Leave() || o.Leave() || !o.Left() {
			t.Error("leave")
		}
		ends := []Hands{Caller, Peer}
		if callerLast {
			ends = []Hands{Peer, Caller}
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
		for _, h := range []Hands{Queue, Peer, Transfer} {
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

// TestGenerationsBeginAnew: after the last generation comes the first, not 0.
func TestGenerationsBeginAnew(t *testing.T) {
	var w Word
	w.word.Store(lastGeneration << generationShift)
	w.Begin(open, Caller|Peer)
	if n := w.Generation(); n != 1 {
		t.Errorf("generation %d after the last", n)
	}
}
