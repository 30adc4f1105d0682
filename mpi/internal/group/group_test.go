package group

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// random is a group with its list. Some are ranges, some far apart.
func random(r *rand.Rand) (*Group, []int32) {
	n := r.IntN(8)
	if r.IntN(3) == 0 {
		first := r.IntN(6)
		g := Range(first, n)
		return g, slices.Clone(g.List())
	}
	var list []int32
	for _, p := range r.Perm(12)[:n] {
		if r.IntN(4) == 0 {
			p += 12 * (1 + p)
		}
		list = append(list, int32(p))
	}
	g, err := New(slices.Clone(list))
	if err != nil {
		panic(err)
	}
	return g, list
}

// TestAgainstLists compares all operations with what they do to lists.
func TestAgainstLists(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		a, la := random(r)
		b, lb := random(r)
		in := func(list []int32) func(int32) bool {
			return func(p int32) bool { return slices.Contains(list, p) }
		}
		not := func(f func(int32) bool) func(int32) bool { return func(p int32) bool { return !f(p) } }
		expect(t, "union", Union(a, b), slices.Concat(la, kept(lb, not(in(la)))))
		expect(t, "intersection", Intersection(a, b), kept(la, in(lb)))
		expect(t, "difference", Difference(a, b), kept(la, not(in(lb))))
		some := r.Perm(len(la))[:r.IntN(len(la)+1)]
		var picked []int32
		for _, rank := range some {
			picked = append(picked, la[rank])
		}
		incl, err1 := a.Incl(some)
		excl, err2 := a.Excl(some)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		expect(t, "incl", incl, picked)
		expect(t, "excl", excl, kept(la, not(in(picked))))
		compareTranslated(t, a, b, la, lb)
		want := Unequal
		switch {
		case slices.Equal(la, lb):
			want = Ident
		case slices.Equal(slices.Sorted(slices.Values(la)), slices.Sorted(slices.Values(lb))):
			want = Similar
		}
		if got := Compare(a, b); got != want {
			t.Errorf("%v and %v compare as %d, want %d", la, lb, got, want)
		}
		shuffled, err := a.Incl(r.Perm(len(la)))
		if want = Similar; slices.Equal(shuffled.List(), la) {
			want = Ident
		}
		if got := Compare(a, shuffled); err != nil || got != want {
			t.Errorf("%v and %v compare as %d (%v), want %d", la, shuffled.List(), got, err, want)
		}
		if t.Failed() {
			return
		}
	}
}

func kept(list []int32, keep func(int32) bool) (out []int32) {
	for _, p := range list {
		if keep(p) {
			out = append(out, p)
		}
	}
	return out
}

func expect(t *testing.T, what string, g *Group, want []int32) {
	t.Helper()
	if !slices.Equal(g.List(), want) || g.Size() != len(want) {
		t.Errorf("%s is %v of size %d, want %v", what, g.List(), g.Size(), want)
	}
	for rank, p := range want {
		if r, ok := g.RankOf(p); r != rank || !ok || g.At(rank) != p {
			t.Errorf("%s: process %d has rank %d (%t), want %d", what, p, r, ok, rank)
		}
	}
	for _, p := range []int32{-1, 500} {
		if r, ok := g.RankOf(p); ok {
			t.Errorf("%s: process %d has rank %d", what, p, r)
		}
	}
}

func compareTranslated(t *testing.T, a, b *Group, la, lb []int32) {
	t.Helper()
	ranks := []int{ProcNull}
	want := []int{ProcNull}
	for rank, p := range la {
		ranks = append(ranks, rank)
		to := slices.Index(lb, p)
		if to < 0 {
			to = Undefined
		}
		want = append(want, to)
	}
	got, err := a.Translate(ranks, b)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ranks of %v in %v are %d (%v), want %d", la, lb, got, err, want)
	}
}

// TestRanges has triplets of ranks (7.3.2).
func TestRanges(t *testing.T) {
	g := Range(10, 8)
	for _, c := range []struct {
		ranges     []Triplet
		incl, excl []int32
	}{
		{nil, nil, []int32{10, 11, 12, 13, 14, 15, 16, 17}},
		{[]Triplet{{1, 7, 2}}, []int32{11, 13, 15, 17}, []int32{10, 12, 14, 16}},
		{[]Triplet{{7, 1, -2}}, []int32{17, 15, 13, 11}, []int32{10, 12, 14, 16}},
		{[]Triplet{{7, 0, -1}}, []int32{17, 16, 15, 14, 13, 12, 11, 10}, nil},
		{[]Triplet{{0, 7, 3}, {1, 1, 5}}, []int32{10, 13, 16, 11}, []int32{12, 14, 15, 17}},
		{[]Triplet{{3, 9, 7}}, []int32{13}, []int32{10, 11, 12, 14, 15, 16, 17}},
		{[]Triplet{{3, 3, -1}}, []int32{13}, []int32{10, 11, 12, 14, 15, 16, 17}},
	} {
		incl, err1 := g.RangeIncl(c.ranges)
		excl, err2 := g.RangeExcl(c.ranges)
		if err1 != nil || err2 != nil {
			t.Errorf("%v: %v, %v", c.ranges, err1, err2)
			continue
		}
		expect(t, "range incl", incl, c.incl)
		expect(t, "range excl", excl, c.excl)
	}
	for _, bad := range [][]Triplet{
		{{0, 7, 0}},
		{{-1, 3, 1}},
		{{8, 8, 1}},
		{{0, 8, 1}},
		{{3, -1, -1}},
		{{3, 1, 1}},
		{{1, 3, -1}},
		{{0, 3, 1}, {3, 4, 1}},
		{{0, 7, 1}, {0, 7, 1}},
		{{0, 1 << 40, 1}},
		{{3, 9, 5}},
		{{1, -1, -5}},
		{{1, 2, -5}},
		{{2, 1, 5}},
	} {
		if got, err := g.RangeIncl(bad); errs.Of(err) != errs.Arg || got != nil {
			t.Errorf("incl of %v: %v, %v", bad, got, err)
		}
		if got, err := g.RangeExcl(bad); errs.Of(err) != errs.Arg || got != nil {
			t.Errorf("excl of %v: %v, %v", bad, got, err)
		}
	}
}

func TestRefused(t *testing.T) {
	g := Range(0, 4)
	for _, ranks := range [][]int{{4}, {-1}, {1, 2, 1}, {ProcNull}} {
		if got, err := g.Incl(ranks); errs.Of(err) != errs.Rank || got != nil {
			t.Errorf("incl of %d: %v, %v", ranks, got, err)
		}
		if got, err := g.Excl(ranks); errs.Of(err) != errs.Rank || got != nil {
			t.Errorf("excl of %d: %v, %v", ranks, got, err)
		}
	}
	for _, rank := range []int{4, -1, Undefined} {
		if got, err := g.Translate([]int{rank}, g); errs.Of(err) != errs.Rank || got != nil {
			t.Errorf("rank %d is %d, %v", rank, got, err)
		}
	}
	for _, list := range [][]int32{{-1}, {3, 4, 3}, {1 << 30, 5, 1 << 30}} {
		if got, err := New(list); errs.Of(err) != errs.Group || got != nil {
			t.Errorf("%d is the group %v, %v", list, got, err)
		}
	}
	if got, err := New([]int32{}); err != nil || got.Size() != 0 || got.hasProcess(0) {
		t.Errorf("an empty list is %v, %v", got, err)
	}
	if got, err := g.Incl(nil); err != nil || Compare(got, Empty) != Ident {
		t.Errorf("no ranks are %v, %v", got, err)
	}
}

// TestInverse: processes far apart need no table of all between them.
func TestInverse(t *testing.T) {
	if inv := invert([]int32{7, 1 << 30}); inv.far == nil || inv.table != nil {
		t.Error("two processes far apart have a table")
	}
	if inv := invert([]int32{7, 5, 9}); inv.far != nil || len(inv.table) != 5 {
		t.Error("three near processes have none")
	}
}

// TestLargeRange: a range of processes costs nothing.
func TestLargeRange(t *testing.T) {
	world := Range(0, 1<<20)
	if n := testing.AllocsPerRun(10, func() {
		if r, ok := world.RankOf(1<<20 - 1); !ok || r != 1<<20-1 || world.At(5) != 5 {
			t.Error("a rank is not its process")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestSharedUse: several goroutines may be the first to ask for a rank.
func TestSharedUse(t *testing.T) {
	g, err := Range(0, 100).Incl([]int{9, 3, 50})
	if err != nil {
		t.Fatal(err)
	}
	const users = 4
	done := make(chan int, users)
	for range users {
		go func() {
			rank, _ := g.RankOf(50)
			done <- rank
		}()
	}
	for range users {
		if rank := <-done; rank != 2 {
			t.Errorf("rank %d, want 2", rank)
		}
	}
}
