package realm

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestIndexField gathers and scatters by a field of an instance on any rank, which changes before the precondition.
func TestIndexField(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		for _, n := range []int64{12, 9_000} {
			eachPair(rt, func(dst, src int) {
				by := (dst + 2*src + 1) % rt.Size()
				to := kitArgs{Kind: kindFor(rt, dst), Hi: n, Order: AOS, Seed: 1}.at(t, rt, dst)
				from := kitArgs{Hi: n, Seed: 2}.at(t, rt, src)
				index := kitArgs{Kind: kindFor(rt, by), Hi: n, Order: AOS, Seed: 3}.at(t, rt, by)
				same := kitArgs{Hi: n}.at(t, rt, 0) // field x of each point is its coordinate
				back := make([]int64, n)
				for k := range back {
					back[k] = n - 1 - int64(k)
				}
				x := Part{Fields: []Pair{{}}}
				gate := rt.NewUserEvent()
				set := Gather(rt, index, same, back, x, After(gate.Event()))
				e := GatherBy(rt, to, from, IndexField(index, 0), x, After(set))
				_ = gate.Trigger(NoEvent)
				checkValues(t, "gather", values(t, rt, to, e), func(i int64) int64 { return valueAt(2, n-1-i) })
				half := Range(0, n/2)
				e = ScatterBy(rt, to, same, IndexField(index, 0), Part{&half, x.Fields})
				checkValues(t, "scatter", values(t, rt, to, e), func(i int64) int64 {
					if i < n-n/2 {
						return valueAt(2, n-1-i)
					}
					return n - 1 - i
				})
				mirror := kitArgs{Lo: 1 - n, Hi: 1, Seed: 4}.at(t, rt, src)
				e = GatherBy(rt, to, mirror, IndexField(same, 1), x) // field y is the negative of the coordinate
				checkValues(t, "negative", values(t, rt, to, e), func(i int64) int64 { return valueAt(4, -i) })
				for what, bad := range map[string]Indirection{
					"no field":   IndexField(index, 2),
					"outside":    IndexField(from, 0),
					"no points":  IndexField(Instance{rt, index.id + 1}, 0),
					"negative":   IndexField(index, -1),
					"few points": IndexField(kitArgs{Hi: n / 2}.at(t, rt, by), 0),
				} {
					if err := wait(t, rt, GatherBy(rt, to, from, bad, x)); !errors.Is(err, ErrPoisoned) {
						t.Errorf("%s: %v", what, err)
					}
				}
			})
		}
	})
}

// instances is how many this rank has.
func (rt *Runtime) instances() (n int) {
	rt.data.mu.Lock()
	defer rt.data.mu.Unlock()
	for _, in := range rt.data.all {
		if in != nil {
			n++
		}
	}
	return n + len(rt.data.made)
}

// TestPointList gathers from and scatters to instances of two and three dimensions, in random layouts. The points are
// in a list, or in a field on another rank. It compares point by point.
func TestPointList(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		d := rand.New(rand.NewPCG(6, 6))
		eachPair(rt, func(dst, src int) {
			a := stridedArgs{d.Uint64N(1000), 2 + d.IntN(2), d.IntN(2) == 0, 0}
			s, _, _ := a.shape()
			if s.Count() == 0 {
				return
			}
			grid, points := a.at(t, rt, src), slices.Collect(s.All())
			n := 1 + int64(d.IntN(len(points)))
			list := make([]Point, n) // a point at most once, so that a scatter has one outcome
			for k, i := range d.Perm(len(points))[:n] {
				list[k] = points[i]
			}
			own, err := NewExternal(rt, list, Range(0, n), SOA, FieldOf[Point]("p"))
			if err != nil {
				failf(t, "%v", err)
			}
			there, made := CreateInstance(rt, rt.MemoryOf((src+1)%rt.Size(), System), Range(-2, n+2), AOS,
				[]Field{FieldOf[int8]("other"), FieldOf[Point]("p")})
			told := Copy(rt, there, own, Part{Fields: []Pair{{Dst: 1}}}, After(made))
			line := kitArgs{Hi: n, Seed: 5}.at(t, rt, dst)
			if err := wait(t, rt, told); err != nil {
				failf(t, "%v", err)
			}
			before := rt.instances()
			for what, by := range map[string]Indirection{"list": PointList(list), "field": IndexField(there, 1)} {
				e := GatherBy(rt, line, grid, by, Part{}, After(told))
				for k, v := range values(t, rt, line, e) {
					if v != a.x(list[k]) {
						failf(t, "%s: %+v: point %v is %d, want %d", what, a, list[k], v, a.x(list[k]))
					}
				}
			}
			e := Fill(rt, line, 0, int64(-5), nil)
			e = ScatterBy(rt, grid, line, IndexField(there, 1), Part{}, After(e))
			read := readArgs{grid.ID(), int(rand.Int64())}
			if err := wait(t, rt, Spawn(rt, makeProcessor(src, CPU, 0), readStrided, read, After(e))); err != nil {
				failf(t, "scatter: %v", err)
			}
			replies.mu.Lock()
			got := replies.x[read.Reply]
			replies.mu.Unlock()
			for k, p := range points {
				want := a.x(p)
				if slices.Contains(list, p) {
					want = -5
				}
				if got[2*k] != want {
					failf(t, "scatter: %+v: point %v is %d, want %d", a, p, got[2*k], want)
				}
			}
			if err := wait(t, rt, GatherBy(rt, line, grid, IndexList(make([]int64, n)), Part{})); err == nil {
				t.Error("a list of one coordinate selects points of two or three dimensions")
			}
			if after := rt.instances(); after != before {
				t.Errorf("%d instances, %d before", after, before)
			}
		})
	})
}
