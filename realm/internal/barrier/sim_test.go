package barrier

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/golci/golci/realm/internal/event"
)

// TestThousand counts the messages of a phase on 1,000 ranks that all arrive and wait, and how deep the tree is. The
// first phase needs as many: each rank waits before its arrival leaves.
func TestThousand(t *testing.T) {
	const n = 1000
	j := newJob(t, n, n)
	for p := uint64(1); p <= 4; p++ {
		j.sent = 0
		before := j.bs[0].known
		for r := range n {
			if err := j.arrive(r, Handle{Phase: p}, 1, number(uint64(r)), nil); err != nil {
				t.Fatal(err)
			}
			if p == 1 {
				j.wait(r, p)
			}
			j.flush(r)
		}
		received, fromOwner, depth := 0, 0, make([]int, n)
		for len(j.wires) > 0 {
			i := rand.IntN(len(j.wires))
			w := j.wires[i]
			if w.m.To == 0 {
				received++
			}
			if w.from == 0 {
				fromOwner++
			}
			depth[w.m.To] = depth[w.from] + 1
			j.deliver(i)
		}
		deepest := 0
		for r := 1; r < n; r++ {
			deepest = max(deepest, depth[r])
			if p > 1 {
				j.wait(r, p)
			}
			if v, err := j.bs[r].Result(p); err != nil || value(v) != n*(n-1)/2 || j.fired[mark{r, p}] != "ok" {
				t.Fatalf("phase %d on rank %d: %d, %v, %q", p, r, value(v), err, j.fired[mark{r, p}])
			}
		}
		if before+1 != p || j.sent != 2*(n-1) || received != n-1 || fromOwner != radix || deepest > 6 {
			t.Errorf("phase %d: %d messages, %d to the owner, %d from it, depth %d", p, j.sent, received, fromOwner,
				deepest)
		}
	}
	if len(j.errs) > 0 {
		t.Error(j.errs)
	}
}

// TestManyShares: a message names no more ranks than fit it. The ranks below are far more than that.
func TestManyShares(t *testing.T) {
	const n = 5000
	j := newJob(t, n, 1)
	for r := 1; r < n; r++ {
		j.wait(r, 1)
		j.flush(r)
	}
	for len(j.wires) > 0 {
		j.deliver(0)
	}
	if err := j.arrive(0, Handle{Phase: 1}, 1, make([]byte, 8), &event.Poison{Text: strings.Repeat("x",
		event.MaxText)}); err != nil {
		t.Fatal(err)
	}
	first := len(j.wires)
	for len(j.wires) > 0 {
		j.deliver(0)
	}
	if want := (n - 1 + maxShare - 1) / maxShare; first != want || len(j.fired) != n-1 || len(j.errs) > 0 {
		t.Errorf("%d messages from the owner, not %d; %d of %d waiters; %v", first, want, len(j.fired), n-1, j.errs)
	}
}

// TestLocalAllocs: nothing is allocated by arrivals at the owner, nor by a phase whose waiters are there.
func TestLocalAllocs(t *testing.T) {
	b := newJob(t, 1, 3).bs[0]
	var o Out
	w := &event.Waiter{Op: mark{}}
	h := Handle{Phase: 1}
	if n := testing.AllocsPerRun(1000, func() {
		if b.Subscribe(h.Phase, true, w, &o) {
			t.Fatal("a phase is over")
		}
		for range 3 {
			if err := b.Arrive(h, 1, nil, nil, &o); err != nil {
				t.Fatal(err)
			}
		}
		if o.Fire.Pop() != w {
			t.Fatal("the waiter has not fired")
		}
		h = h.Next()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRead: an ID is read as the phase nearest to the newest known one.
func TestRead(t *testing.T) {
	for _, c := range []struct{ known, phase uint64 }{
		{0, 1},
		{0, window - 1},
		{0, window},
		{1, window},
		{window / 2, window},
		{window / 2, 1},
		{window, window/2 + 1},
		{window, window + window/2},
		{5 * window, 5 * window},
		{5*window - 1, 5 * window},
		{5 * window, 5*window - 1},
		{5*window + 7, 5*window + 7 - window/2 + 1},
		{5*window + 7, 5*window + 7 + window/2},
	} {
		if got := nearest(Gen(c.phase), c.known); got != c.phase {
			t.Errorf("phase %d is read as %d where %d is known", c.phase, got, c.known)
		}
	}
	// One phase farther is another window.
	if got := nearest(Gen(5*window-window/2), 5*window); got != 5*window+window/2 {
		t.Errorf("half a window back is read as %d", got)
	}
	if got := nearest(Gen(5*window+window/2+1), 5*window); got != 4*window+window/2+1 {
		t.Errorf("more than half a window ahead is read as %d", got)
	}
}

// TestMisread: whatever a rank takes an ID for, the owner answers for the right phase or refuses, unless the ID is more
// than three quarters of a window old.
func TestMisread(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		known, stale := 3*window+r.Uint64N(3*window), r.Uint64N(6*window)
		phase := known - window*3/4 + 1 + r.Uint64N(window*3/4+maxAhead)
		b := &Barrier{known: known}
		if got := nearest(Gen(phase), min(stale, known+maxAhead)); got != phase && b.outside(got) == nil {
			t.Fatalf("phase %d of %d is taken for %d where %d is known", phase, known, got, stale)
		}
	}
}

// FuzzReceive: nothing that arrives makes a rank panic.
func FuzzReceive(f *testing.F) {
	f.Add(uint64(Arrival), uint64(1), uint64(1), uint64(1), uint64(0), uint64(0), uint64(0), []byte{1, 2, 3})
	f.Add(uint64(State)|1<<48, uint64(3), uint64(2), uint64(1), uint64(0), uint64(0), uint64(0), []byte{1})
	j := newJob(f, 4, 2)
	j.move(0, 1)
	f.Add(uint64(State)|1<<32|uint64(len(j.wires[0].m.Value))<<48, uint64(0), uint64(2), uint64(1), uint64(0),
		uint64(0), uint64(0), j.wires[0].m.Value)
	f.Fuzz(func(t *testing.T, head, phase, epoch, count, own, stamp, bad uint64, payload []byte) {
		j := newJob(t, 4, 2)
		id, m, err := Decode([]uint64{head, uint64(j.id), phase, epoch, count, own, stamp, bad}, payload, 4)
		if err != nil || id != j.id {
			return
		}
		for r := range 3 {
			j.wait(r, 1)
			m.To = int32(r)
			j.act(r, func(b *Barrier, o *Out) { b.Receive(&m, o) })
			j.act(r, func(b *Barrier, o *Out) { b.Arrive(Handle{Phase: 1}, 1, nil, nil, o) })
			j.move(r, 2)
		}
	})
}

func BenchmarkArrive(b *testing.B) {
	x := newJob(b, 1, 1<<39).bs[0]
	var o Out
	for b.Loop() {
		if err := x.Arrive(Handle{Phase: 1}, 1, nil, nil, &o); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPhase is a phase with one participant that waits.
func BenchmarkPhase(b *testing.B) {
	x := newJob(b, 1, 1).bs[0]
	var o Out
	w := &event.Waiter{Op: mark{}}
	h := Handle{Phase: 1}
	for b.Loop() {
		x.Subscribe(h.Phase, true, w, &o)
		if err := x.Arrive(h, 1, nil, nil, &o); err != nil || o.Fire.Pop() != w {
			b.Fatal(err)
		}
		h = h.Next()
	}
}
