package badnet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
)

// arrival is a packet that came out.
type arrival struct {
	id   uint32
	due  time.Duration
	data []byte
}

func packet(id uint32) []byte { return binary.BigEndian.AppendUint32(make([]byte, 0, 64), id)[:64] }

func mustNew(t *testing.T, f Faults) *Impair {
	t.Helper()
	i, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// run pushes n packets, step apart, takes each when it is due, and checks that the counts add up.
func run(t *testing.T, f Faults, n int, step time.Duration) (out []arrival, c Counts) {
	t.Helper()
	i := mustNew(t, f)
	take := func(now time.Duration) {
		for {
			p, ok := i.Take(now)
			if !ok {
				return
			}
			a := arrival{due: p.Due, data: bytes.Clone(p.Data)}
			if len(p.Data) >= 4 {
				a.id = binary.BigEndian.Uint32(p.Data)
			}
			i.Free(p.Data)
			out = append(out, a)
		}
	}
	for k := range n {
		take(time.Duration(k) * step)
		i.Push(time.Duration(k)*step, packet(uint32(k)))
	}
	take(math.MaxInt64)
	if _, ok := i.Next(); ok {
		t.Fatal("something is still held")
	}
	c = i.Counts()
	if c.Packets != uint64(n) || c.Delivered != uint64(len(out)) || c.Packets != c.Delivered-c.Duplicated+c.Lost+c.Cut+c.Overflowed {
		t.Fatalf("%d packets, %d came out: %+v", n, len(out), c)
	}
	return out, c
}

func near(t *testing.T, what string, got uint64, n int, want float64) {
	t.Helper()
	if p := float64(got) / float64(n); math.Abs(p-want) > want/5 {
		t.Errorf("%s: %v of the packets, want about %v", what, p, want)
	}
}

func TestNothingChanges(t *testing.T) {
	out, _ := run(t, Faults{Seed: 1}, 1000, time.Microsecond)
	for k, a := range out {
		if a.id != uint32(k) || a.due != time.Duration(k)*time.Microsecond || !bytes.Equal(a.data, packet(a.id)) {
			t.Fatalf("packet %d: %+v", k, a)
		}
	}
}

var all = Faults{
	Seed: 7, Loss: 0.05, Burst: 3, Dup: 0.04, Reorder: 0.06, Corrupt: 0.03, Truncate: 0.02,
	Delay: time.Millisecond, Jitter: 100 * time.Microsecond,
}

func TestRatesAreAsAsked(t *testing.T) {
	const n = 100_000
	_, c := run(t, all, n, 10*time.Microsecond)
	near(t, "loss", c.Lost, n, 0.05)
	near(t, "dup", c.Duplicated, n, 0.04*0.95)
	near(t, "reorder", c.Reordered, n, 0.06*0.95)
	near(t, "corrupt", c.Corrupted, n, 0.03*0.95)
	near(t, "truncate", c.Shortened, n, 0.02*0.95)
}

func TestSeedDecidesAll(t *testing.T) {
	a, _ := run(t, all, 5000, 10*time.Microsecond)
	b, _ := run(t, all, 5000, 10*time.Microsecond)
	other := all
	other.Seed++
	c, _ := run(t, other, 5000, 10*time.Microsecond)
	if !same(a, b) {
		t.Error("one seed, two outcomes")
	}
	if same(a, c) {
		t.Error("two seeds, one outcome")
	}
}

func same(a, b []arrival) bool {
	for k := range a {
		if k >= len(b) || a[k].due != b[k].due || !bytes.Equal(a[k].data, b[k].data) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestFaultsAreIndependent: which packets are lost does not depend on time or on the other chances.
func TestFaultsAreIndependent(t *testing.T) {
	missing := func(f Faults, step time.Duration) map[uint32]bool {
		m := map[uint32]bool{}
		for k := range uint32(5000) {
			m[k] = true
		}
		out, _ := run(t, f, 5000, step)
		for _, a := range out {
			delete(m, a.id)
		}
		return m
	}
	plain := missing(Faults{Seed: 7, Loss: 0.05, Burst: 3}, time.Millisecond)
	more := all
	more.Corrupt, more.Truncate = 0, 0 // those hide which packet it was
	got := missing(more, time.Microsecond)
	if len(plain) == 0 || len(plain) != len(got) {
		t.Fatalf("%d lost, with other faults %d", len(plain), len(got))
	}
	for k := range plain {
		if !got[k] {
			t.Fatalf("packet %d is lost only without other faults", k)
		}
	}
}

func TestBursts(t *testing.T) {
	const n = 200_000
	for _, burst := range []float64{1, 2, 8} {
		out, c := run(t, Faults{Seed: 3, Loss: 0.05, Burst: burst}, n, time.Microsecond)
		runs, next := 0, uint32(0)
		for _, a := range out {
			if a.id != next {
				runs++
			}
			next = a.id + 1
		}
		near(t, "loss", c.Lost, n, 0.05)
		want := burst
		if burst == 1 {
			want = 1 / 0.95 // by itself, yet neighbours happen
		}
		if mean := float64(c.Lost) / float64(runs); math.Abs(mean-want) > want/8 {
			t.Errorf("burst %v: %v in a row on average", burst, mean)
		}
	}
}

// TestJitterKeepsOrder: only Reorder lets packets overtake.
func TestJitterKeepsOrder(t *testing.T) {
	f := Faults{Seed: 5, Delay: time.Millisecond, Jitter: 10 * time.Millisecond}
	late := func(f Faults) (n int) {
		out, _ := run(t, f, 5000, 50*time.Microsecond)
		for k, a := range out {
			sent := time.Duration(a.id) * 50 * time.Microsecond
			if a.due < sent+f.Delay || a.due > sent+f.Delay+f.Jitter+f.ReorderBy {
				t.Fatalf("packet %d: sent at %v, due at %v", a.id, sent, a.due)
			}
			if k > 0 && a.id < out[k-1].id {
				n++
			}
		}
		return n
	}
	if n := late(f); n != 0 {
		t.Errorf("%d were overtaken without Reorder", n)
	}
	f.Reorder, f.ReorderBy = 0.1, 20*time.Millisecond
	if n := late(f); n < 300 {
		t.Errorf("%d of 5000 were overtaken, want about 500", n)
	}
}

func TestDamage(t *testing.T) {
	out, _ := run(t, Faults{Seed: 2, Corrupt: 1}, 1000, 1)
	for k, a := range out {
		flipped := 0
		for x, b := range packet(uint32(k)) {
			flipped += bits.OnesCount8(b ^ a.data[x])
		}
		if flipped != 1 || len(a.data) != 64 {
			t.Fatalf("packet %d: %d bits flipped, %d bytes", k, flipped, len(a.data))
		}
	}
	out, _ = run(t, Faults{Seed: 2, Truncate: 1}, 1000, 1)
	lengths := map[int]bool{}
	for k, a := range out {
		if !bytes.HasPrefix(packet(uint32(k)), a.data) || len(a.data) == 64 {
			t.Fatalf("packet %d: %x", k, a.data)
		}
		lengths[len(a.data)] = true
	}
	if len(lengths) < 60 {
		t.Errorf("only %d lengths of 64", len(lengths))
	}
	i := mustNew(t, Faults{Corrupt: 1, Truncate: 1})
	i.Push(0, nil)
	if p, ok := i.Take(0); !ok || len(p.Data) != 0 {
		t.Error("the empty packet")
	}
}

func TestCutAndHeal(t *testing.T) {
	f := Faults{CutAfter: 100, HealAfter: 50}
	for _, c := range []struct {
		heal time.Duration
		want int
	}{{50, 950}, {0, 100}} {
		f.HealAfter = c.heal
		out, counts := run(t, f, 1000, 1)
		if len(out) != c.want || counts.Cut != uint64(1000-c.want) {
			t.Errorf("healed after %v: %d came, %+v", c.heal, len(out), counts)
		}
		for _, a := range out {
			if a.due >= 100 && (c.heal == 0 || a.due < 150) {
				t.Fatalf("a packet of %v came through", a.due)
			}
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	out, c := run(t, Faults{Delay: time.Hour, Dup: 1, Queue: 10}, 100, 1)
	if len(out) != 10 || c.Overflowed != 95 {
		t.Errorf("%d came, %+v", len(out), c)
	}
}

// TestCallerKeepsItsBuffer: what is pushed is copied, and memory is used again only after the next call.
func TestCallerKeepsItsBuffer(t *testing.T) {
	i := mustNew(t, Faults{})
	buf := []byte("one")
	i.Push(0, buf)
	copy(buf, "two")
	i.Push(0, buf)
	for _, want := range []string{"one", "two"} {
		if p, ok := i.Take(0); !ok || string(p.Data) != want {
			t.Fatalf("got %q, want %q", p.Data, want)
		}
	}
}

// TestQueueIsSorted takes out in order what was put in at random, with more put in between.
func TestQueueIsSorted(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		var q Queue[int]
		entered := 0
		push := func(due time.Duration) {
			q.Push(due, entered)
			entered++
		}
		for range r.IntN(100) + 1 {
			push(time.Duration(r.IntN(20)))
		}
		next, _ := q.Next()
		if _, _, ok := q.Pop(next - 1); ok {
			t.Fatal("one comes before it is due")
		}
		last, before, _ := q.Pop(next)
		for q.Len() > 0 {
			v, due, ok := q.Pop(math.MaxInt64)
			if !ok || due < before || due == before && v < last {
				t.Fatalf("%d of %v after %d of %v", v, due, last, before)
			}
			last, before = v, due
			if r.IntN(4) == 0 {
				push(due)
			}
		}
	}
}

func TestNoAllocation(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	i := mustNew(t, all)
	p, now := packet(1), time.Duration(0)
	round := func() {
		now += 10 * time.Microsecond
		i.Push(now, p)
		for p, ok := i.Take(now); ok; p, ok = i.Take(now) {
			i.Free(p.Data)
		}
	}
	for range 10_000 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBadFaults(t *testing.T) {
	for _, f := range []Faults{
		{Loss: -0.1},
		{Loss: 1.1},
		{Dup: math.NaN()},
		{Corrupt: 2},
		{Truncate: -1},
		{Reorder: 9},
		{Delay: -1},
		{Jitter: -1},
		{CutAfter: -1},
		{HealAfter: -1},
		{Queue: -1},
		{Burst: 0.5},
		{Burst: math.NaN()},
		{Loss: 0.9, Burst: 2},
	} {
		if _, err := New(f); !errors.Is(err, ErrFaults) {
			t.Errorf("%+v: %v", f, err)
		}
	}
	if _, c := run(t, Faults{Loss: 1}, 100, 1); c.Lost != 100 {
		t.Errorf("loss of 1: %+v", c)
	}
}

func FuzzImpair(f *testing.F) {
	f.Add(uint64(1), byte(10), byte(20), byte(30), byte(40), byte(50), uint16(100))
	f.Fuzz(func(t *testing.T, seed uint64, loss, dup, reorder, corrupt, truncate byte, jitter uint16) {
		p := func(b byte) float64 { return float64(b) / 255 }
		run(t, Faults{
			Seed: seed, Loss: p(loss), Dup: p(dup), Reorder: p(reorder), Corrupt: p(corrupt), Truncate: p(truncate),
			Jitter: time.Duration(jitter),
		}, 200, 10)
	})
}

func BenchmarkImpair(b *testing.B) {
	i, err := New(all)
	if err != nil {
		b.Fatal(err)
	}
	p := packet(1)
	b.ReportAllocs()
	now := time.Duration(0)
	for b.Loop() {
		now += 10 * time.Microsecond
		i.Push(now, p)
		for p, ok := i.Take(now); ok; p, ok = i.Take(now) {
			i.Free(p.Data)
		}
	}
}
