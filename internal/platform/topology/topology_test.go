package topology

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/affinity"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// machine makes a map of packages x cores x threads, numbered as Linux does: all first threads, then all second ones.
func machine(packages, cores, threads int) Map {
	var m Map
	for p := range packages {
		for c := range cores {
			for h := range threads {
				id := h*packages*cores + p*cores + c
				m.CPUs = append(m.CPUs, CPU{ID: id, Package: p, Core: c, Node: p, LLC: p * cores})
			}
		}
	}
	slices.SortFunc(m.CPUs, nearerFirst)
	return m
}

func TestCores(t *testing.T) {
	if got, want := machine(2, 2, 2).Cores(), [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := machine(2, 3, 1).Count(func(c CPU) int { return c.Package }); n != 2 {
		t.Errorf("%d packages", n)
	}
}

func TestDeal(t *testing.T) {
	for _, c := range []struct {
		m    Map
		n    int
		want [][]int
	}{
		{machine(1, 2, 1), 2, [][]int{{0}, {1}}},
		{machine(1, 4, 1), 2, [][]int{{0, 1}, {2, 3}}},
		{machine(1, 5, 1), 2, [][]int{{0, 1}, {2, 3, 4}}},
		{machine(2, 2, 2), 2, [][]int{{0, 4, 1, 5}, {2, 6, 3, 7}}},
		{machine(2, 2, 2), 4, [][]int{{0, 4}, {1, 5}, {2, 6}, {3, 7}}},
		{machine(1, 2, 2), 3, nil},
		{machine(1, 2, 1), 0, nil},
		{Map{}, 1, nil},
	} {
		if got := c.m.Deal(c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d ranks: %v, want %v", c.n, got, c.want)
		}
	}
}

// TestDealAll: no CPU is given twice or forgotten, and the shares differ by one core at most.
func TestDealAll(t *testing.T) {
	m := machine(2, 7, 2)
	for n := 1; n <= 14; n++ {
		seen := map[int]int{}
		least, most := 1<<30, 0
		for _, share := range m.Deal(n) {
			least, most = min(least, len(share)), max(most, len(share))
			for _, cpu := range share {
				seen[cpu]++
			}
		}
		if len(seen) != 28 || most-least > 2 {
			t.Errorf("%d ranks: %d CPUs, shares from %d to %d", n, len(seen), least, most)
		}
		for cpu, times := range seen {
			if times != 1 {
				t.Errorf("%d ranks: CPU %d given %d times", n, cpu, times)
			}
		}
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string][]int{"0": {0}, "0-3,8": {0, 1, 2, 3, 8}, "5,7-8\n": {5, 7, 8}, "": nil} {
		got := ParseList(text)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v", text, got)
		}
		if back := ParseList(FormatList(got)); !slices.Equal(back, want) {
			t.Errorf("%q came back as %v", text, back)
		}
	}
	for _, text := range []string{"x", "3-1", "-1", "0-99999999", "1-2-3", ","} {
		if got := ParseList(text); got != nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if got := FormatList([]int{0, 1, 2, 5, 7, 8}); got != "0-2,5,7-8" {
		t.Errorf("%q", got)
	}
}

func TestRead(t *testing.T) {
	m, ids := Read(), affinity.Get()
	if len(m.CPUs) != len(ids) || len(ids) == 0 {
		t.Fatalf("%d CPUs, usable %v", len(m.CPUs), ids)
	}
	for _, c := range m.CPUs {
		if !slices.Contains(ids, c.ID) {
			t.Errorf("CPU %d is not usable", c.ID)
		}
	}
	listed := len(readCaches(m.CPUs)) > 0
	for _, c := range m.Caches {
		if c.Level < 1 || c.Bytes <= 0 || c.Line < 1 || (c.Count > 0 && c.Shared > 0) != listed {
			t.Errorf("cache %+v", c)
		}
	}
}

// TestProcessor: what the processor says of its own caches is among what the system lists. Cores may differ, and the
// last level may be counted in other ways.
func TestProcessor(t *testing.T) {
	p := ReadProcessor()
	if runtime.GOARCH == "amd64" && (p.Name == "" || p.Level < 1 || p.Level > 4 || p.Line < 1) {
		t.Errorf("%+v", p)
	}
	said, listed := processorCaches(), readCaches(Read().CPUs)
	if len(listed) == 0 || len(said) == 0 {
		t.Skip("the system lists no caches, or the processor does not tell")
	}
	for _, x := range said {
		same := func(c Cache) bool {
			return c.Level == x.Level && c.Type == x.Type && c.Line == x.Line && (c.Bytes == x.Bytes || c.Level > 2)
		}
		if !slices.ContainsFunc(listed, same) {
			t.Errorf("the processor says %+v, the system lists %+v", x, listed)
		}
	}
}
