package reduce

import (
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/realm/internal/space"
)

// pagesOf is how many pages and logs f has made.
func pagesOf[L, R any](f *Fold[L, R]) (pages, logs int) {
	for k, p := range f.pages {
		if p != nil {
			pages++
		}
		if f.logs.of[k] != nil {
			logs++
		}
	}
	return pages, logs
}

// TestPagesFollowUse: what is not reduced into costs nothing, few reductions a log, and more a page.
func TestPagesFollowUse(t *testing.T) {
	f, err := NewFold(Min[int64](), space.Range(0, 1<<22), Exclusive)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int64{5, 1 << 20, 1<<20 + 1} {
		if err := f.Reduce(i, i); err != nil {
			t.Fatal(err)
		}
	}
	if pages, logs := pagesOf(f); pages != 0 || logs != 2 || f.isTouched() != 3 {
		t.Errorf("%d pages, %d logs, %d points", pages, logs, f.isTouched())
	}
	one := []int64{7}
	use := func() {
		_ = f.Reduce(5, 1)
		_ = f.ReduceAll(one, one)
		_ = f.ReduceRow(3, one)
		f.Reset()
	}
	if n := testing.AllocsPerRun(10, use); n > 0 {
		t.Errorf("%v allocations", n)
	}
	for k := range int64(logLen) {
		_ = f.Reduce(5, k)
	}
	if pages, _ := pagesOf(f); pages != 0 {
		t.Errorf("%d pages for %d reductions", pages, logLen)
	}
	_ = f.Reduce(6, 3)
	if pages, _ := pagesOf(f); pages != 1 || f.isTouched() != 2 {
		t.Errorf("%d pages for %d reductions, %d points", pages, logLen+1, f.isTouched())
	}
	if n := testing.AllocsPerRun(10, use); n > 0 {
		t.Errorf("%v allocations with a page", n)
	}
	_ = f.ReduceRow(1<<21, make([]int64, logLen+1))
	if pages, logs := pagesOf(f); pages != 2 || logs != 2 {
		t.Errorf("%d pages, %d logs after a long row", pages, logs)
	}
}

// TestLogs: reductions into few points of each page, around the length of a log, give what a map of them has. A value
// is asked for at each length, and the instance is used again.
func TestLogs(t *testing.T) {
	seeds(t, 60, func(t *testing.T, d *rand.Rand) {
		f, err := NewFold(Sum[int64](), space.Range(0, 4*pageLen), []Mode{Exclusive, Atomic}[d.IntN(2)])
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			want := map[int64]int64{}
			for range d.IntN(3 * logLen) {
				// One page more than the others, its first and last points more than others.
				i := int64(d.IntN(4))*pageLen + []int64{0, 63, 64, pageLen - 1, d.Int64N(pageLen)}[d.IntN(5)]
				if d.IntN(2) == 0 {
					i %= pageLen
				}
				v := 1 + d.Int64N(9)
				if d.IntN(2) == 0 {
					err = f.Reduce(i, v)
				} else {
					err = f.ReduceAll([]int64{i, i}, []int64{v, 0})
				}
				if want[i] += v; err != nil {
					t.Fatal(err)
				}
				if got, ok := f.Value(i); got != want[i] || !ok {
					t.Fatalf("point %d: %d, %v, want %d", i, got, ok, want[i])
				}
			}
			if int(f.isTouched()) != len(want) {
				t.Fatalf("%d points, want %d", f.isTouched(), len(want))
			}
			seen := 0
			limit := 1 + d.IntN(40)
			for s, last := f.sweep(), int64(-1); ; {
				first, v := s.nextRow(limit)
				if len(v) == 0 {
					break
				}
				if first <= last || len(v) > limit {
					t.Fatalf("%d points from %d on, after %d", len(v), first, last)
				}
				for k, x := range v {
					if last = first + int64(k); want[last] != x {
						t.Fatalf("point %d: %d, want %d", last, x, want[last])
					}
					seen++
				}
			}
			if seen != len(want) {
				t.Fatalf("%d points in the sweep, want %d", seen, len(want))
			}
			f.Reset()
		}
	})
}
