package topology

import (
	"slices"
	"testing"

	"github.com/golci/golci/internal/platform/affinity"
)

// TestCommon: what holds all CPUs is what each is in.
func TestCommon(t *testing.T) {
	of := func(cpu int) []int { return []int{0, cpu / 4, cpu / 4, cpu / 2, cpu, cpu / 2, cpu} }
	for _, x := range []struct{ cpus, want []int }{
		{nil, []int{-1, -1, -1, -1, -1, -1, -1}},
		{[]int{6}, []int{0, 1, 1, 3, 6, 3, 6}},
		{[]int{6, 7}, []int{0, 1, 1, 3, -1, 3, -1}},
		{[]int{5, 7, 6}, []int{0, 1, 1, -1, -1, -1, -1}},
		{[]int{0, 1, 4, 0}, []int{0, -1, -1, -1, -1, -1, -1}},
	} {
		if got := commonInstances(x.cpus, of); !slices.Equal(got, x.want) {
			t.Errorf("%v: %v, want %v", x.cpus, got, x.want)
		}
	}
}

// TestInstances: a CPU of this machine is in one of everything that is known, and is itself.
func TestInstances(t *testing.T) {
	cpus := affinity.Get()
	if len(cpus) == 0 {
		t.Skip("the system does not tell which CPUs a process may use")
	}
	last := len(Resources) - 1
	for _, cpu := range cpus {
		if got := Instances([]int{cpu}); len(got) != len(Resources) || got[last] != cpu {
			t.Errorf("CPU %d: %v", cpu, got)
		}
	}
	if got := Instances(cpus); (got[last] < 0) != (len(cpus) > 1) {
		t.Errorf("CPUs %v: %v", cpus, got)
	}
}
