// Package taskbench is Task Bench (Slaughter et al., SC'20) for golci: graphs of tasks, kernels that the tasks execute,
// and runners that execute a graph by different means. The smallest tasks that a runner executes with half of the
// processor's power are its METG. docs/taskbench.md explains it.
package taskbench

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// ErrGraph says that a graph is not defined; ErrResult that a runner did not execute a graph as it should.
var (
	ErrGraph  = errors.New("taskbench: bad graph")
	ErrResult = errors.New("taskbench: the graph was not executed correctly")
)

// Type is a relation between the tasks of a step and those of the step before.
type Type int

// The types, with the names of Task Bench in lower case.
const (
	Trivial Type = iota
	NoComm
	Stencil1D
	Stencil1DPeriodic
	Dom
	Tree
	FFT
	AllToAll
	Nearest
	Spread
	RandomNearest
	types
)

var typeNames = [types]string{
	"trivial", "no_comm", "stencil_1d", "stencil_1d_periodic", "dom", "tree", "fft", "all_to_all", "nearest", "spread",
	"random_nearest",
}

// Types lists all of them.
func Types() []Type {
	all := make([]Type, types)
	for i := range all {
		all[i] = Type(i)
	}
	return all
}

// String is the name in Task Bench.
func (t Type) String() string {
	if t < 0 || t >= types {
		return fmt.Sprintf("Type(%d)", int(t))
	}
	return typeNames[t]
}

// ParseType finds the type of that name.
func ParseType(name string) (Type, error) {
	i := slices.Index(typeNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("%w: no type %q; there are %s", ErrGraph, name, strings.Join(typeNames[:], ", "))
	}
	return Type(i), nil
}

// periodic tells the types whose number of dependence sets is the graph's Period.
func (t Type) periodic() bool { return t == Spread || t == RandomNearest }

// Graph is a rectangle of tasks, Steps long and Width wide. Task (step, point) depends on tasks of the step before.
type Graph struct {
	Type     Type
	Steps    int
	Width    int
	Radix    int     // dependencies of a task at most; of Nearest, Spread and RandomNearest
	Period   int     // dependence sets of Spread and RandomNearest; 0 means 3 for these
	Fraction float64 // of possible dependencies that exist, 0 to 1; of RandomNearest
	Index    int     // seed of RandomNearest and of the load imbalance; Task Bench's number of the graph
	Payload  int     // bytes that a task hands to each that depends on it; a multiple of 16
	Kernel   Kernel
}

// defaultPeriod is that of Task Bench.
const defaultPeriod = 3

// stampBytes is the size of a Stamp.
const stampBytes = 16

// Check fills in defaults and returns ErrGraph if g is not defined. Among these are narrow graphs in which a task would
// depend on another one twice.
func (g *Graph) Check() error {
	if g.Period == 0 && g.Type.periodic() {
		g.Period = defaultPeriod
	}
	g.Kernel.fill()
	switch {
	case g.Type < 0 || g.Type >= types:
		return fmt.Errorf("%w: %v", ErrGraph, g.Type)
	case g.Steps < 1 || g.Width < 1 || g.Width > maxWidth || g.Steps > maxTasks/g.Width:
		return fmt.Errorf("%w: %d steps, width %d; both are at least 1, the width at most %d, and %d tasks are the most",
			ErrGraph, g.Steps, g.Width, maxWidth, maxTasks)
	case g.Payload < stampBytes || g.Payload%stampBytes != 0:
		return fmt.Errorf("%w: payload %d; it is a multiple of %d bytes, and not 0", ErrGraph, g.Payload, stampBytes)
	}
	if err := g.checkType(); err != nil {
		return err
	}
	return g.Kernel.check()
}

// The most that a graph may have: the numbers of two points go into a tag, and there is a mark for each task.
const (
	maxWidth = 1 << 13
	maxTasks = 1 << 28
)

func (g *Graph) checkType() error {
	wrong := func(format string, args ...any) error {
		return fmt.Errorf("%w: %v with width %d: %s", ErrGraph, g.Type, g.Width, fmt.Sprintf(format, args...))
	}
	switch {
	case g.Type == Stencil1DPeriodic && g.Width < 3:
		return wrong("the width is at least 3")
	case g.Type == FFT && g.Width < 2:
		return wrong("the width is at least 2")
	case g.Radix < 0 || g.Type == RandomNearest && g.Radix < 1 || g.Type == Spread && (g.Radix < 1 || g.Radix > g.Width):
		return wrong("radix %d", g.Radix)
	case g.Type.periodic() && g.Period < 0 || !g.Type.periodic() && g.Period != 0:
		return wrong("period %d", g.Period)
	case g.Type == Spread && g.Period > (g.Width+g.Radix-1)/g.Radix:
		return wrong("period %d with radix %d; it is at most %d", g.Period, g.Radix, (g.Width+g.Radix-1)/g.Radix)
	case !(g.Fraction >= 0 && g.Fraction <= 1):
		return wrong("fraction %g", g.Fraction)
	}
	return nil
}

// Window is the interval of points that have a task at step; it is empty before the first step.
func (g *Graph) Window(step int) Interval {
	if step < 0 || step >= g.Steps {
		return Interval{0, -1}
	}
	switch g.Type {
	case Dom:
		first := max(0, step+g.Width-g.Steps)
		return Interval{first, first + min(g.Width, step+1, g.Steps-step) - 1}
	case Tree:
		return Interval{0, min(g.Width, 1<<min(step, 62)) - 1}
	}
	return Interval{0, g.Width - 1}
}

// Sets is the number of dependence sets. They repeat after as many steps.
func (g *Graph) Sets() int {
	switch g.Type {
	case FFT:
		return bits.Len(uint(g.Width - 1))
	case Spread, RandomNearest:
		return g.Period
	}
	return 1
}

// SetAt is the dependence set of a step, 0 or more: it relates the step's tasks to those of the step before.
func (g *Graph) SetAt(step int) int {
	if g.Type == FFT {
		step += g.Sets() - 1
	}
	return step % g.Sets()
}

// Tasks is how many tasks g has.
func (g *Graph) Tasks() (n int) {
	for step := range g.Steps {
		n += g.Window(step).Len()
	}
	return n
}
