package rank

import (
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/golci/golci/internal/platform/topology"

	"github.com/golci/golci/internal/platform/affinity"
)

func TestPlan(t *testing.T) {
	eight := []int{0, 1, 2, 3, 4, 5, 6, 7}
	for _, x := range []struct {
		name      string
		opts      []string
		s         coreShare
		workers   int
		pin       []int
		crowded   bool
		tight     bool
		dedicated bool
		serverCPU int
	}{
		{
			"alone on two cores", nil,
			coreShare{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			2,
			[]int{0, 1},
			false, false, false, -1,
		},
		{
			"bound to one of two cores", nil,
			coreShare{cores: []int{1}, own: true, ranks: 2, machine: 2},
			1,
			[]int{1},
			false, false, false, -1,
		},
		{"two ranks, not bound", nil, coreShare{cores: []int{0, 1}, ranks: 2, machine: 2}, 1, nil, false, false, false, -1},
		{
			"five ranks on two cores", nil,
			coreShare{cores: []int{0, 1}, ranks: 5, machine: 2},
			1, nil, true, true, false, -1,
		},
		{
			"eight own cores", nil,
			coreShare{cores: eight, own: true, ranks: 1, machine: 8},
			7, eight[:7], false, false, true, 7,
		},
		{
			"a dedicated server on two cores",
			[]string{"GOLCI_SERVER", "dedicated"},
			coreShare{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			1,
			[]int{0},
			false, false, true, 1,
		},
		{
			"more workers than cores",
			[]string{"GOLCI_WORKERS", "3", "GOLCI_SERVER", "waiter"},
			coreShare{cores: []int{0, 1}, own: true, ranks: 1, machine: 2},
			3, nil, false, true, false, -1,
		},
		{
			"a system that binds no thread",
			[]string{"GOLCI_SERVER", "dedicated"},
			coreShare{cores: []int{0, 1}, own: true, ranks: 1, machine: 2, fixed: fs.ErrPermission},
			1, nil, false, false, true, -1,
		},
		{
			"two workers on each of two bound ranks",
			[]string{"GOLCI_WORKERS", "2"},
			coreShare{cores: []int{1}, own: true, ranks: 2, machine: 2},
			2, nil, false, true, false, -1,
		},
		{
			"two workers on each of two ranks that are not bound",
			[]string{"GOLCI_WORKERS", "2"},
			coreShare{cores: []int{0, 1}, ranks: 2, machine: 2},
			2, nil, false, true, false, -1,
		},
		{
			"two workers on each of two ranks with four cores",
			[]string{"GOLCI_WORKERS", "2"},
			coreShare{cores: []int{0, 1, 2, 3}, ranks: 2, machine: 4},
			2, nil, false, false, false, -1,
		},
		{"a system that does not say", nil, coreShare{ranks: 1}, 1, nil, true, true, false, -1},
	} {
		o, err := with(append([]string{"GOLCI_WORKERS", "0", "GOLCI_SERVER", "auto"}, x.opts...)...).readSettings()
		if err != nil {
			t.Fatal(err)
		}
		p := planFor(o, x.s)
		if p.workers != x.workers || !slices.Equal(p.pin, x.pin) || p.crowded != x.crowded || p.tight != x.tight ||
			p.dedicated != x.dedicated || p.serverCPU != x.serverCPU {
			t.Errorf("%s: %+v", x.name, p)
		}
		if c := schedulerConfig(o, p); c.Crowded != x.tight || c.Workers != x.workers {
			t.Errorf("%s: the scheduler has %d workers, crowded %v", x.name, c.Workers, c.Crowded)
		}
		if c := endpointConfig(o, p, x.s.ranks).Progress; c.Crowded != x.crowded || c.Dedicated != x.dedicated {
			t.Errorf("%s: progress is crowded %v, dedicated %v", x.name, c.Crowded, c.Dedicated)
		}
	}
}

// TestCrowdedProcessesSpinLonger: by as many turns as there are ranks to a processor, and only where they can share it.
func TestCrowdedProcessesSpinLonger(t *testing.T) {
	o, err := with("GOLCI_SPIN", "1ms").readSettings()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		ranks, machine int
		processes      bool
		want           time.Duration
	}{
		{8, 2, true, 4 * time.Millisecond},
		{7, 2, true, 4 * time.Millisecond},
		{8, 2, false, time.Millisecond},
		{2, 2, true, time.Millisecond},
		{1, 0, true, time.Millisecond},
	} {
		p := planFor(o, coreShare{ranks: x.ranks, machine: x.machine})
		if x.processes {
			p.share = affinity.Yield
		}
		c := endpointConfig(o, p, x.ranks).Progress
		if c.Spin != x.want || (c.Share != nil) != x.processes {
			t.Errorf("%+v: spins for %v", x, c.Spin)
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
			s := coreShare{ranks: x.ranks}
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
	o, err := with("GOLCI_WORKERS", "0", "GOLCI_SERVER", "auto").readSettings()
	if err != nil {
		t.Fatal(err)
	}
	s := coreShare{cpus: []int{0, 1, 2, 3}, cores: []int{0, 2}, own: true, ranks: 2, machine: 4}
	if p := planFor(o, s); !slices.Equal(p.cpus, s.cores) {
		t.Errorf("the threads of a bound rank run on %v", p.cpus)
	}
	s.own = false
	if p := planFor(o, s); !slices.Equal(p.cpus, s.cpus) {
		t.Errorf("threads that are not bound run on %v", p.cpus)
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
