package realm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/rank"
)

// conduits are the ways between ranks that data take in tests.
var conduits = map[string]rank.Config{
	"local": {},
	"udp":   {Settings: map[string]string{"GOLCI_CONDUIT": "udp"}},
	"faulty": {
		Settings: map[string]string{
			"GOLCI_CONDUIT": "udp", "GOLCI_UDP_FAULTS": "loss=0.05,dup=0.05,reorder=0.1,seed=1",
		},
		Tuning: rank.Tuning{MinRTO: 200 * time.Microsecond},
	},
}

// underRace are the ranks of jobs under the race detector, which is slow: one with registered memory, and one over
// datagrams without it. Fewer ranks, or a worse network, bring no other goroutines.
var underRace = map[string]int{"local": 3, "udp": 2}

// overWays runs f on rank 0 of jobs of 1 to 3 ranks, over each conduit; the others only serve. Some of the jobs have
// registered memory.
func overWays(t *testing.T, f func(t *testing.T, rt *Runtime)) {
	for name, cfg := range conduits {
		for n := 1; n <= 3; n++ {
			if testing.Short() && name == "faulty" && n < 3 {
				continue
			}
			if invariants.Race && n != underRace[name] {
				continue
			}
			t.Run(fmt.Sprintf("%s/ranks=%d", name, n), func(t *testing.T) {
				rc := Config{CPUs: 1}
				if n != 2 {
					rc.Segment = 4 << 20
				}
				err := RunWith(n, cfg, func(rt *Runtime) error {
					if rt.Rank() == 0 {
						guarded(t, rt, f)
					}
					return nil
				}, rc)
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// failure ends a test on the goroutine of a rank, which must return.
type failure struct{}

func failf(t *testing.T, format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	panic(failure{})
}

func guarded(t *testing.T, rt *Runtime, f func(t *testing.T, rt *Runtime)) {
	defer func() {
		if x := recover(); x != nil && x != (failure{}) {
			panic(x)
		}
	}()
	f(t, rt)
}

// kit is what a test has other ranks do.
type kitArgs struct {
	Kind   MemoryKind
	Lo, Hi int64
	Sparse bool
	Order  Order
	Seed   int64
	Reply  int
}

// replies have what tasks of tests find out. The ranks of a test are in one process.
var replies struct {
	mu sync.Mutex
	id map[int]InstanceID
	x  map[int][]int64
}

func reply(i int, id InstanceID, x []int64) {
	replies.mu.Lock()
	defer replies.mu.Unlock()
	if replies.id == nil {
		replies.id, replies.x = make(map[int]InstanceID), make(map[int][]int64)
	}
	replies.id[i], replies.x[i] = id, x
}

// testSpace is a range, or every point of it but each fifth.
func testSpace(lo, hi int64, sparse bool) Space {
	s := Range(lo, hi)
	if !sparse {
		return s
	}
	var list []int64
	for i := lo; i < hi; i++ {
		if i%5 != 0 {
			list = append(list, i)
		}
	}
	return Indices(list...)
}

// valueAt is the value of a point in an instance with that seed.
func valueAt(seed, i int64) int64 { return seed*1_000_000 + i }

// makeTask makes an instance of two fields, x of int64 and y of int32.
var makeTask = Register("data.make", func(c *Ctx, a kitArgs) error {
	mem, s := c.Runtime().Memory(a.Kind), testSpace(a.Lo, a.Hi, a.Sparse)
	in, err := NewInstance(c, mem, s, a.Order, FieldOf[int64]("x"), FieldOf[int32]("y"))
	if err != nil {
		return err
	}
	x, err := ViewOf[int64](in, "x")
	if err != nil {
		return err
	}
	y, err := ViewOf[int32](in, "y")
	if err != nil {
		return err
	}
	for p := range s.All() {
		*x.At(p[0]), *y.At(p[0]) = valueAt(a.Seed, p[0]), int32(-p[0])
	}
	reply(a.Reply, in.ID(), nil)
	return nil
})

type readArgs struct {
	ID    InstanceID
	Reply int
}

// readTask tells the values of field x.
var readTask = Register("data.read", func(c *Ctx, a readArgs) error {
	x, err := ViewOf[int64](a.ID.On(c), "x")
	if err != nil {
		return err
	}
	var all []int64
	for p := range x.in.layout.Space().All() {
		all = append(all, *x.At(p[0]))
	}
	reply(a.Reply, 0, all)
	return nil
})

// at makes an instance on a rank.
func (a kitArgs) at(t *testing.T, rt *Runtime, r int) Instance {
	t.Helper()
	a.Reply = int(rand.Int64())
	if err := wait(t, rt, Spawn(rt, makeProcessor(r, CPU, 0), makeTask, a)); err != nil {
		failf(t, "%v", err)
	}
	replies.mu.Lock()
	defer replies.mu.Unlock()
	return replies.id[a.Reply].On(rt)
}

// values are field x of in, after an event.
func values(t *testing.T, rt *Runtime, in Instance, after Event) []int64 {
	t.Helper()
	a := readArgs{in.ID(), int(rand.Int64())}
	if err := wait(t, rt, Spawn(rt, makeProcessor(in.ID().Rank(), CPU, 0), readTask, a, After(after))); err != nil {
		failf(t, "%v", err)
	}
	replies.mu.Lock()
	defer replies.mu.Unlock()
	return replies.x[a.Reply]
}

// eachPair calls f for a destination and a source on each pair of ranks.
func eachPair(rt *Runtime, f func(dst, src int)) {
	for dst := range rt.Size() {
		for src := range rt.Size() {
			f(dst, src)
		}
	}
}

// kindFor is registered memory where there is some, on odd ranks.
func kindFor(rt *Runtime, r int) MemoryKind {
	if rt.data.rma != nil && r%2 == 0 {
		return Registered
	}
	return System
}

// TestCopy copies between all pairs of ranks, as a third one too: small and large, between layouts of all forms.
func TestCopy(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		d := rand.New(rand.NewPCG(1, 1))
		for _, n := range []int64{10, 300, 40_000} {
			eachPair(rt, func(dst, src int) {
				a := kitArgs{kindFor(rt, dst), 0, n, d.IntN(3) == 0, Order(d.IntN(2)), 1, 0}
				b := kitArgs{kindFor(rt, src), n / 4, n + 50, d.IntN(3) == 0, Order(d.IntN(2)), 2, 0}
				to, from := a.at(t, rt, dst), b.at(t, rt, src)
				gate := rt.NewUserEvent()
				e := Copy(rt, to, from, Part{}, After(gate.Event()))
				if done, _ := rt.HasTriggered(e); done {
					t.Error("a copy before its precondition")
				}
				_ = gate.Trigger(NoEvent)
				if err := wait(t, rt, e); err != nil {
					failf(t, "%+v to %+v: %v", b, a, err)
				}
				got := values(t, rt, to, e)
				i, there := 0, testSpace(b.Lo, b.Hi, b.Sparse)
				for p := range testSpace(a.Lo, a.Hi, a.Sparse).All() {
					want := valueAt(1, p[0])
					if there.Has(p) {
						want = valueAt(2, p[0])
					}
					if got[i] != want {
						failf(t, "%+v to %+v: point %v is %d, want %d", b, a, p, got[i], want)
					}
					i++
				}
				if err := wait(t, rt, rt.Merge(Destroy(rt, to, After(e)), Destroy(rt, from, After(e)))); err != nil {
					t.Error(err)
				}
				if err := wait(t, rt, Copy(rt, to, from, Part{})); !errors.Is(err, ErrPoisoned) {
					t.Errorf("a copy between instances that are gone: %v", err)
				}
			})
		}
	})
}

// TestGatherScatterFill on all pairs of ranks.
func TestGatherScatterFill(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		for _, n := range []int64{40, 30_000} {
			eachPair(rt, func(dst, src int) {
				whole := kitArgs{Kind: kindFor(rt, dst), Hi: n, Order: AOS, Seed: 1}
				other := kitArgs{Kind: System, Hi: n, Seed: 2}
				to, from := whole.at(t, rt, dst), other.at(t, rt, src)
				index := make([]int64, n)
				for k := range index {
					index[k] = n - 1 - int64(k)
				}
				x := []Pair{{Dst: 0, Src: 0}}
				e := Gather(rt, to, from, index, Part{Fields: x})
				checkValues(t, "gather", values(t, rt, to, e), func(i int64) int64 { return valueAt(2, n-1-i) })
				half := Range(0, n/2)
				e = Scatter(rt, to, from, index[:n/2], Part{&half, x})
				checkValues(t, "scatter", values(t, rt, to, e), func(i int64) int64 { return valueAt(2, n-1-i) })
				e = Fill(rt, to, 0, int64(7), &half)
				e = Fill(rt, to, 0, int64(9), nil, After(Copy(rt, from, to, Part{Fields: x}, After(e))))
				checkValues(t, "fill", values(t, rt, to, e), func(int64) int64 { return 9 })
				checkValues(t, "copy of a fill", values(t, rt, from, e), func(i int64) int64 {
					if i < n/2 {
						return 7
					}
					return valueAt(2, n-1-i)
				})
			})
		}
	})
}

func checkValues(t *testing.T, what string, got []int64, want func(i int64) int64) {
	t.Helper()
	for i, v := range got {
		if v != want(int64(i)) {
			failf(t, "%s: point %d is %d, want %d", what, i, v, want(int64(i)))
		}
	}
}

var sumInt64 = RegisterOp("data.sum", SumOp[int64]())

// TestReduce reduces from a Fold and a List into instances of all ranks.
func TestReduce(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		for _, n := range []int64{50, 40_000} {
			for dst := range rt.Size() {
				in := kitArgs{Kind: kindFor(rt, dst), Hi: n, Order: Order(dst % 2), Seed: 3}.at(t, rt, dst)
				s := Range(10, n)
				f, err := NewFold(sumInt64, s, ExclusiveReductions)
				l, err2 := NewList(sumInt64, s)
				if err != nil || err2 != nil {
					failf(t, "%v, %v", err, err2)
				}
				for i := int64(10); i < n; i++ {
					_ = f.Reduce(i, 5)
					_ = l.Reduce(i, i)
				}
				_ = f.Reduce(11, 1)
				e := rt.Merge(Reduce(rt, in, 0, f), Reduce(rt, in, 0, l))
				checkValues(t, "reduction", values(t, rt, in, e), func(i int64) int64 {
					switch {
					case i < 10:
						return valueAt(3, i)
					case i == 11:
						return valueAt(3, i) + 5 + i + 1
					}
					return valueAt(3, i) + 5 + i
				})
				unknown, _ := NewList(SumOp[int64](), s)
				_ = unknown.Reduce(11, 1)
				for what, e := range map[string]Event{
					"field":    Reduce(rt, in, 1, l),
					"operator": Reduce(rt, in, 0, unknown),
					"none":     Reduce(rt, in, 0, nil),
					"nobody":   Reduce(rt, Instance{}, 0, l),
				} {
					if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
						t.Errorf("%s: %v", what, err)
					}
				}
			}
		}
	})
}

// TestBadTransfers: faults of arguments, found on any rank, and of preconditions poison the result.
func TestBadTransfers(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		poisoned := rt.NewUserEvent()
		_ = poisoned.Cancel(nil)
		eachPair(rt, func(dst, src int) {
			a := kitArgs{Hi: 100, Seed: 1}
			to, from := a.at(t, rt, dst), a.at(t, rt, src)
			far, grid, bad := Range(90, 110), Grid(3, 3), Grid()
			for what, e := range map[string]Event{
				"outside":        Copy(rt, to, from, Part{Points: &far}),
				"dimensions":     Copy(rt, to, from, Part{Points: &grid}),
				"bad space":      Copy(rt, to, from, Part{Points: &bad}),
				"sizes":          Copy(rt, to, from, Part{Fields: []Pair{{Dst: 0, Src: 1}}}),
				"field":          Copy(rt, to, from, Part{Fields: []Pair{{Dst: 2, Src: 0}}}),
				"negative field": Copy(rt, to, from, Part{Fields: []Pair{{Dst: -1, Src: 0}}}),
				"precondition":   Copy(rt, to, from, Part{}, After(poisoned.Event())),
				"no instance":    Copy(rt, to, Instance{}, Part{}),
				"no destination": Copy(rt, Instance{rt, to.id + 7}, from, Part{}),
				"no source":      Copy(rt, to, Instance{rt, from.id + 7}, Part{}),
				"index":          Gather(rt, to, from, []int64{100}, Part{Points: &far}),
				"scatter":        Scatter(rt, to, from, make([]int64, 3), Part{}),
				"fill":           Fill(rt, to, 0, int32(1), nil),
				"fill of what":   Fill(rt, to, 0, "text", nil),
				"fill where":     Fill(rt, to, 5, int32(1), nil),
			} {
				if err := wait(t, rt, e); !errors.Is(err, ErrPoisoned) {
					t.Errorf("%d from %d: %s: %v", dst, src, what, err)
				}
			}
			if err := wait(t, rt, Copy(rt, to, from, Part{}, After(poisoned.Event()), IgnoreFaults())); err != nil {
				t.Errorf("faults ignored: %v", err)
			}
		})
	})
}

// TestInstances: what is refused, and what views show.
func TestInstances(t *testing.T) {
	err := RunWith(1, rank.Config{}, func(rt *Runtime) error {
		sys := rt.Memory(System)
		for what, f := range map[string]func() error{
			"no memory": func() error { _, err := NewArray[int64](rt, rt.Memory(GPU), Range(0, 3)); return err },
			"other rank": func() error {
				_, err := NewArray[int64](rt, makeMemory(1, System), Range(0,
					3))
				return err
			},
			"zero memory": func() error { _, err := NewArray[int64](rt, 0, Range(0, 3)); return err },
			"pointers":    func() error { _, err := NewArray[*int](rt, sys, Range(0, 3)); return err },
			"space":       func() error { _, err := NewArray[int64](rt, sys, Grid()); return err },
			"no fields":   func() error { _, err := NewInstance(rt, sys, Range(0, 3), SOA); return err },
			"bad field":   func() error { _, err := NewInstance(rt, sys, Range(0, 3), SOA, Field{}); return err },
			"names": func() error {
				_, err := NewInstance(rt, sys, Range(0, 3), SOA, FieldOf[int64]("x"), FieldOf[int64]("x"))
				return err
			},
		} {
			if err := f(); !errors.Is(err, ErrArgument) {
				t.Errorf("%s: %v", what, err)
			}
		}
		for _, m := range []Memory{sys, rt.Memory(Registered)} {
			capacity, used := rt.MemoryUse(m)
			if _, err := NewArray[int64](rt, m, Range(0, capacity/8+1)); !errors.Is(err, ErrMemory) || used != 0 {
				t.Errorf("%v: %v, %d of %d used", m, err, used, capacity)
			}
			in, err := NewArray[int64](rt, m, Grid(3, 5))
			if err != nil {
				return err
			}
			v, err := ViewOf[int64](in, "")
			if err != nil {
				return err
			}
			*v.AtPoint(Point{1, 2}) = 7
			if s := v.Slice(); len(s) != 15 || s[7] != 7 || s[0] != 0 {
				t.Errorf("slice %v", s)
			}
			if _, err := ViewOf[int32](in, ""); !errors.Is(err, ErrArgument) {
				t.Errorf("another type: %v", err)
			}
			if _, err := ViewOf[int64](in, "x"); !errors.Is(err, ErrArgument) {
				t.Errorf("another field: %v", err)
			}
			if err := wait(t, rt, Destroy(rt, in)); err != nil {
				t.Error(err)
			}
			if err := wait(t, rt, Destroy(rt, in)); !errors.Is(err, ErrPoisoned) {
				t.Errorf("destroyed twice: %v", err)
			}
			if _, err := ViewOf[int64](in, ""); !errors.Is(err, ErrArgument) {
				t.Errorf("a view of nothing: %v", err)
			}
			if _, used := rt.MemoryUse(m); used != 0 {
				t.Errorf("%v: %d bytes used", m, used)
			}
		}
		if _, err := ViewOf[int64](Instance{}, ""); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
		return nil
	}, Config{Memory: 1 << 20, Segment: 1 << 20})
	if err != nil {
		t.Error(err)
	}
}

// TestAllocator compares the allocator with a map of its bytes.
func TestAllocator(t *testing.T) {
	for seed := range uint64(50) {
		d := rand.New(rand.NewPCG(seed, 1))
		const size = 500
		a := newAllocator(size)
		var taken [size]bool
		var parts []extent
		for range 300 {
			if d.IntN(2) == 0 && len(parts) > 0 {
				i := d.IntN(len(parts))
				p := parts[i]
				parts = slices.Delete(parts, i, i+1)
				a.giveBack(p.off, p.size)
				for j := range max(p.size, 1) {
					taken[p.off+j] = false
				}
				continue
			}
			n, align := d.Int64N(60), int64(1)<<d.IntN(5)
			off, ok := a.allocate(n, align)
			if !ok {
				if a.largest() >= max(n, 1)+align {
					t.Fatalf("seed %d: %d bytes refused, there are %d", seed, n, a.largest())
				}
				continue
			}
			parts = append(parts, extent{off, n})
			for j := range max(n, 1) {
				if off%align != 0 || taken[off+j] {
					t.Fatalf("seed %d: %d bytes at %d, alignment %d", seed, n, off, align)
				}
				taken[off+j] = true
			}
		}
		for _, p := range parts {
			a.giveBack(p.off, p.size)
		}
		if a.used != 0 || len(a.free) != 1 || a.largest() != size {
			t.Fatalf("seed %d: %d used, free %v", seed, a.used, a.free)
		}
	}
	if _, ok := newAllocator(0).allocate(0, 1); ok {
		t.Error("a part of nothing")
	}
}
