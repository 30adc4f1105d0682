package pending

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/golci/golci/fult"
)

// shown lists what c shows, by name and the number in Tag.
func shown(c *Calls) (names []string) {
	c.Each(func(o *Op) { names = append(names, fmt.Sprint(o.Call, o.Tag)) })
	slices.Sort(names)
	return names
}

// TestCallsShow: an entry is shown from Begin to End, as a Call with what Begin was given and the thread that waits.
func TestCallsShow(t *testing.T) {
	var c Calls
	var log []string
	es, thread := make([]Entry, 3), new(fult.Thread)
	for i := range es {
		op := Op{Kind: Send, Call: "x", Tag: i, Peer: 7, Context: 9, Bytes: 11, Parts: true, Needs: Nobody}
		c.Begin(&es[i], 1, &op, Terms{}, &waiter{log: &log, thread: thread})
		op.Call = "changed later"
	}
	c.Each(func(o *Op) {
		if o.Kind != Call || o.Call != "x" || o.Peer != 7 || o.Context != 9 || o.Bytes != 11 || !o.Parts || o.NeedsRank(7) ||
			o.Thread != thread {
			t.Errorf("shown as %+v", o)
		}
	})
	for _, step := range []struct {
		ends int
		want []string
	}{{1, []string{"x0", "x2"}}, {2, []string{"x0"}}, {0, nil}} { // the middle, the newest, the last
		if !c.End(&es[step.ends], 1) {
			t.Errorf("entry %d does not end", step.ends)
		}
		if got := shown(&c); !slices.Equal(got, step.want) {
			t.Errorf("after the end of %d: %v, want %v", step.ends, got, step.want)
		}
	}
	if len(log) != 0 {
		t.Errorf("End tells the owner: %v", log)
	}
}

// TestEachOutsideOfTheLock: show may begin and end operations, and sees the state before.
func TestEachOutsideOfTheLock(t *testing.T) {
	var c Calls
	var log []string
	var a, b Entry
	c.Begin(&a, 1, &Op{Call: "a"}, Terms{}, &waiter{name: "a", log: &log})
	n := 0
	c.Each(func(*Op) {
		n++
		c.Begin(&b, 1, &Op{Call: "b"}, Terms{}, &waiter{name: "b", log: &log})
		c.End(&a, 1)
	})
	if n != 1 || !slices.Equal(shown(&c), []string{"b0"}) {
		t.Errorf("%d shown, then %v", n, shown(&c))
	}
}

// TestEndOfUse: the end of one use of an entry has no effect on the next.
func TestEndOfUse(t *testing.T) {
	var c Calls
	var e Entry
	var log []string
	begin := func(use uint32) { c.Begin(&e, use, &Op{Call: "x"}, Terms{}, &waiter{name: "x", log: &log}) }
	if c.End(&e, 0) {
		t.Error("an entry that was never listed ends")
	}
	begin(1)
	if c.End(&e, 0) || c.End(&e, 2) || !c.End(&e, 1) || c.End(&e, 1) {
		t.Error("a use does not end once, by its own number")
	}
	begin(2)
	if c.End(&e, 1) || !c.Stop(&e, 1, errA) || len(log) != 0 {
		t.Errorf("the end of a use ends the next: %v", log)
	}
	if !c.Stop(&e, 2, errB) || !slices.Equal(log, []string{"x has ended: b"}) || c.End(&e, 2) {
		t.Errorf("%v", log)
	}
}

// TestEndWhere: operations for which there is an error end with that, each once; the others stay. Of those with a Stop
// the end is asked for, by number, and they stay listed until they have ended.
func TestEndWhere(t *testing.T) {
	var c Calls
	var log []string
	es := make([]Entry, 5)
	owners := make([]*waiter, len(es))
	worker := new(fult.Worker)
	for i := range es {
		owners[i] = &waiter{name: fmt.Sprint("x", i), log: &log}
		terms := Terms{Number: uint64(100 + i), Kept: i == 1}
		if i >= 3 {
			terms.Stop = func(number uint64, err error, w *fult.Worker) {
				log = append(log, fmt.Sprintf("stop %d: %v, %v", number, err, w == worker))
			}
		}
		c.Begin(&es[i], 1, &Op{Call: "x", Tag: i}, terms, owners[i])
	}
	why := func(o *Op) error { return []error{errA, errB, nil, errA, nil}[o.Tag] }
	c.EndWhere(why, worker)
	slices.Sort(log)
	if want := []string{"stop 103: a, true", "x0 has ended: a", "x1 has ended: b"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
	if owners[0].w != worker {
		t.Error("the owner is not told of the worker")
	}
	if want := []string{"x2", "x3", "x4"}; !slices.Equal(shown(&c), want) {
		t.Errorf("left: %v, want %v", shown(&c), want)
	}
	log = nil
	c.EndWhere(why, worker)
	if want := []string{"stop 103: a, true"}; !slices.Equal(log, want) {
		t.Errorf("again: %v, want %v", log, want)
	}
	if c.End(&es[0], 1) || !c.End(&es[3], 1) || !c.End(&es[2], 1) {
		t.Error("what has ended ends again, or what has been asked for its end does not end")
	}
}

// TestStop: one operation ends, or is asked for its end; what is kept stays, and its waiter is told so.
func TestStop(t *testing.T) {
	var c Calls
	var log []string
	var plain, asked, kept Entry
	c.Begin(&plain, 1, &Op{Call: "plain"}, Terms{}, &waiter{name: "plain", log: &log})
	c.Begin(&asked, 1, &Op{Call: "asked"}, Terms{Number: 42, Stop: func(number uint64, err error, w *fult.Worker) {
		log = append(log, fmt.Sprintf("stop %d: %v, %v", number, err, w == nil))
	}}, &waiter{name: "asked", log: &log})
	c.Begin(&kept, 1, &Op{Call: "kept"}, Terms{Kept: true}, &waiter{name: "kept", log: &log})
	if c.Stop(&kept, 1, errA) || !c.Stop(&asked, 1, errA) || !c.Stop(&plain, 1, errA) {
		t.Error("Stop is to be false for what is kept, and for nothing else")
	}
	if want := []string{"stop 42: a, true", "plain has ended: a"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
	if want := []string{"asked0", "kept0"}; !slices.Equal(shown(&c), want) {
		t.Errorf("left: %v, want %v", shown(&c), want)
	}
	if !c.End(&kept, 1) || !c.Stop(&kept, 1, errA) || len(log) != 2 {
		t.Errorf("what has been kept does not end by its owner: %v", log)
	}
}

// TestEndForgets: an entry that is used again has nothing of the use before.
func TestEndForgets(t *testing.T) {
	var c Calls
	var e Entry
	var log []string
	stop := func(uint64, error, *fult.Worker) { log = append(log, "stopped") }
	c.Begin(&e, 1, &Op{Peer: 1, Needs: Nobody}, Terms{Kept: true, Stop: stop}, &waiter{name: "one", log: &log})
	c.End(&e, 1)
	if e.op.Needs != nil || e.terms.Stop != nil || e.owner != nil || e.prev != nil || e.next != nil {
		t.Error("an entry keeps what its operation had")
	}
	c.Begin(&e, 2, &Op{Peer: 1}, Terms{}, &waiter{name: "two", log: &log})
	c.EndWhere(func(o *Op) error {
		if o.NeedsRank(1) {
			return errA
		}
		return nil
	}, nil)
	if want := []string{"two has ended: a"}; !slices.Equal(log, want) {
		t.Errorf("%v, want %v", log, want)
	}
}

// counted is an owner that counts its ends.
type counted struct{ ends atomic.Int32 }

// EndPending implements Owner.
func (x *counted) EndPending(error, *fult.Worker) { x.ends.Add(1) }

// Waiter implements Owner.
func (x *counted) Waiter() *fult.Thread { return nil }

// TestOneEnd: of all that want to end a use of an entry at once, one does. The model is random calls beside each other.
func TestOneEnd(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const rounds, entries = 300, 6
	var c Calls
	var es [entries]Entry
	for round := range uint32(rounds) {
		var owners [entries]counted
		var own [entries]atomic.Int32
		for i := range es {
			c.Begin(&es[i], round, &Op{Tag: i}, Terms{Kept: rng.IntN(3) == 0}, &owners[i])
		}
		var beside sync.WaitGroup
		for range 2 {
			order := rng.Perm(entries)
			only := rng.IntN(entries)
			beside.Go(func() {
				for _, i := range order {
					if c.End(&es[i], round) {
						own[i].Add(1)
					}
				}
			})
			beside.Go(func() {
				for _, i := range order {
					c.Stop(&es[i], round, errA)
				}
			})
			beside.Go(func() {
				c.EndWhere(func(o *Op) error {
					if o.Tag >= only {
						return errB
					}
					return nil
				}, nil)
			})
			beside.Go(func() { c.Each(func(*Op) {}) })
		}
		beside.Wait()
		for i := range es {
			if n := own[i].Load() + owners[i].ends.Load(); n != 1 {
				t.Fatalf("round %d: entry %d has ended %d times", round, i, n)
			}
		}
		if got := shown(&c); len(got) != 0 {
			t.Fatalf("round %d: %v are left", round, got)
		}
	}
}
