package cores

import (
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/topology"
	"github.com/golci/golci/internal/test/settingstest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ofPlan(f func(p Plan) any) func(s *settings.Set) any {
	return func(s *settings.Set) any {
		return f(PlanFor(s, Share{ranks: 1, machine: 4, cores: []int{0, 1}, own: true}))
	}
}

// TestEverySettingIsWired: each setting of cores, given by the program or by the environment, reaches the plan.
func TestEverySettingIsWired(t *testing.T) {
	settingstest.Check(t, map[string]settingstest.Wire[*settings.Set]{
		"GOLCI_WORKERS": {Value: "3", Read: ofPlan(func(p Plan) any { return p.Workers }), Want: 3},
		"GOLCI_SERVER":  {Value: "dedicated", Read: ofPlan(func(p Plan) any { return p.Dedicated }), Want: true},
	}, settingstest.Parse)
}

func TestPlan(t *testing.T) {
	eight := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, x := range []struct {
		name      string
		opts      []string
		s         Share
		workers   int
		pin       []int
		crowded   bool
		tight     bool
		dedicated bool
		serverCPU int
	}{
		{
			"alone on two cores", nil,
			Share{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			2,
			[]int{0, 1},
			false, false, false, -1,
		},
		{
			"bound to one of two cores", nil,
			Share{cores: []int{1}, own: true, ranks: 2, machine: 2},
			1,
			[]int{1},
			false, false, false, -1,
		},
		{"two ranks, not bound", nil, Share{cores: []int{0, 1}, ranks: 2, machine: 2}, 1, nil, false, false, false, -1},
		{
			"five ranks on two cores", nil,
			Share{cores: []int{0, 1}, ranks: 5, machine: 2},
			1, nil, true, true, false, -1,
		},
		{
			"eight own cores", nil,
			Share{cores: eight, own: true, ranks: 1, machine: 8},
			7, eight[:7], false, false, true, 7,
		},
		{
			"a dedicated server on two cores",
			[]string{"GOLCI_SERVER", "dedicated"},
			Share{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			1,
			[]int{0},
			false, false, true, 1,
		},
		{
			"more workers than cores",
			[]string{"GOLCI_WORKERS", "3", "GOLCI_SERVER", "waiter"},
			Share{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			3, nil, false, true, false, -1,
		},
		{
			"a system that binds no thread",
			[]string{"GOLCI_SERVER", "dedicated"},
			Share{cores: []int{0, 1}, own: true, ranks: 1, machine: 2, Fixed: fs.ErrPermission},
			1, nil, false, false, true, -1,
		},
		{
			"two workers on each of two bound ranks",
			[]string{"GOLCI_WORKERS", "2"},
			Share{cores: []int{1}, own: true, ranks: 2, machine: 2},
			2, nil, false, true, false, -1,
		},
		{
			"two workers on each of two ranks that are not bound",
			[]string{"GOLCI_WORKERS", "2"},
			Share{cores: []int{0, 1}, ranks: 2, machine: 2},
			2, nil, false, true, false, -1,
		},
		{
			"two workers on each of two ranks with four cores",
			[]string{"GOLCI_WORKERS", "2"},
			Share{cores: []int{0, 1, 2, 3}, ranks: 2, machine: 4},
			2, nil, false, false, false, -1,
		},
		{"a system that does not say", nil, Share{ranks: 1}, 1, nil, true, true, false, -1},
	} {
		values := settingstest.Parse(append(x.opts, "GOLCI_WORKERS", "0", "GOLCI_SERVER", "auto")...) // the first counts
		p := PlanFor(values, x.s)
		if p.Workers != x.workers || !slices.Equal(p.Pin, x.pin) || p.Crowded != x.crowded || p.Tight != x.tight ||
			p.Dedicated != x.dedicated || p.ServerCPU != x.serverCPU {
			t.Errorf("%s: %+v", x.name, p)
		}
	}
}

// TestTurns: crowded processes spin for as many turns as there are ranks to a processor, if they can share it.
func TestTurns(t *testing.T) {
	values := settingstest.Parse()
	for _, x := range []struct {
		ranks, machine int
		processes      bool
		want           time.Duration
	}{
		{8, 2, true, 4},
		{7, 2, true, 4},
		{8, 2, false, 1},
		{2, 2, true, 1},
		{1, 0, true, 1},
	} {
		p := PlanFor(values, Share{ranks: x.ranks, machine: x.machine})
		if x.processes {
			p.Share = affinity.Yield
		}
		if got := p.Turns(); got != x.want {
			t.Errorf("%+v: %d turns", x, got)
		}
	}
}

// TestDivide: ranks that may use the same cores get equal parts that do not meet, if there is a core for each.
func TestDivide(t *testing.T) {
	for _, x := range []struct {
		cores, ranks int
		want         [][]int
	}{
		{2, 2, [][]int{{0}, {1}}},
		{5, 2, [][]int{{0, 1}, {2, 3, 4}}},
		{8, 3, [][]int{{0, 1}, {2, 3, 4}, {5, 6, 7}}},
		{2, 3, nil},
	} {
		for me := range x.ranks {
			s := Share{ranks: x.ranks}
			for c := range x.cores {
				s.cores = append(s.cores, c)
			}
			s.divide(me)
			if own := x.want != nil; s.own != own || own && !slices.Equal(s.cores, x.want[me]) {
				t.Errorf("rank %d of %d on %d cores: %+v", me, x.ranks, x.cores, s)
			}
		}
	}
}

// TestCPUs: bound threads run on the rank's cores, others on all processors of the process.
func TestCPUs(t *testing.T) {
	values := settingstest.Parse("GOLCI_WORKERS", "0", "GOLCI_SERVER", "auto")
	s := Share{cpus: []int{0, 1, 2, 3}, cores: []int{0, 2}, own: true, ranks: 2, machine: 4}
	if p := PlanFor(values, s); !slices.Equal(p.CPUs, s.cores) {
		t.Errorf("the threads of a bound rank run on %v", p.CPUs)
	}
	s.own = false
	if p := PlanFor(values, s); !slices.Equal(p.CPUs, s.cpus) {
		t.Errorf("threads that are not bound run on %v", p.CPUs)
	}
}

// TestCoresAreReadOnce for each set of usable CPUs.
func TestCoresAreReadOnce(t *testing.T) {
	var c coreCache
	read := 0
	for _, usable := range [][]int{{0, 1, 2, 3}, {0, 1}, {0, 1, 2, 3}, {0, 1}} {
		got := c.firstOf(usable, func() (m topology.Map) {
			read++
			for _, id := range usable {
				m.CPUs = append(m.CPUs, topology.CPU{ID: id, Core: id / 2})
			}
			return m
		})
		if want := len(usable) / 2; len(got) != want || got[0] != 0 || got[want-1] != 2*(want-1) {
			t.Errorf("of %v: %v", usable, got)
		}
	}
	if read != 2 {
		t.Errorf("read %d times", read)
	}
}
