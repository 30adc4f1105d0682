package taskbench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/golci/golci/internal/platform/simd"
)

// Kind is what a task executes.
type Kind int

// The kinds, with the names of Task Bench in lower case.
const (
	Empty Kind = iota
	Compute
	Memory
	Imbalance // Compute with iterations that differ from task to task
	kinds
)

var kindNames = [kinds]string{"empty", "compute_bound", "memory_bound", "load_imbalance"}

// String is the name in Task Bench.
func (k Kind) String() string {
	if k < 0 || k >= kinds {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// ParseKind finds the kind of that name.
func ParseKind(name string) (Kind, error) {
	i := slices.Index(kindNames[:], name)
	if i < 0 {
		return 0, fmt.Errorf("%w: no kernel %q; there are %s", ErrGraph, name, strings.Join(kindNames[:], ", "))
	}
	return Kind(i), nil
}

// Kernel is the work of a task. An iteration of Compute is 128 floating-point operations on 64 numbers. One of Memory
// copies one of Samples parts of the task's Scratch bytes, the first half of it to the second.
type Kernel struct {
	Kind       Kind
	Iterations int
	Imbalance  float64 // greatest difference between two tasks as part of Iterations, 0 to 2
	Scratch    int     // bytes of a point, of Memory; 0 means 64 KiB
	Samples    int     // of Memory; 0 means 16
}

func (k *Kernel) fill() {
	if k.Samples == 0 {
		k.Samples = 16
	}
	if k.Kind != Memory {
		k.Scratch = 0
	} else if k.Scratch == 0 {
		k.Scratch = 64 << 10
	}
}

const maxScratch = 1 << 30

func (k *Kernel) check() error {
	switch {
	case k.Kind < 0 || k.Kind >= kinds:
		return fmt.Errorf("%w: %v", ErrGraph, k.Kind)
	case k.Iterations < 0 || k.Iterations > math.MaxInt32:
		return fmt.Errorf("%w: %d iterations", ErrGraph, k.Iterations)
	case !(k.Imbalance >= 0 && k.Imbalance <= 2):
		return fmt.Errorf("%w: imbalance %g; it is from 0 to 2", ErrGraph, k.Imbalance)
	case k.Samples < 1 || k.Scratch < 0 || k.Scratch > maxScratch || k.Scratch%(2*k.Samples) != 0:
		return fmt.Errorf("%w: %d bytes of scratch in %d samples; they are at most %d, and twice the samples divide them",
			ErrGraph, k.Scratch, k.Samples, maxScratch)
	}
	return nil
}

// Unit is what Work counts: "FLOP", "B", or "" for an empty kernel.
func (k *Kernel) Unit() string {
	switch k.Kind {
	case Compute, Imbalance:
		return "FLOP"
	case Memory:
		return "B"
	}
	return ""
}

// iterations are those of a task.
func (g *Graph) iterations(step, point int) int {
	k := &g.Kernel
	if k.Kind != Imbalance {
		return k.Iterations
	}
	x := uniform(g.Index, step, point)
	return int(math.Round((1 + (x-0.5)*k.Imbalance) * float64(k.Iterations)))
}

// numbers is how many a task of Compute works on.
const numbers = 64

// work is that of a task in the kernel's Unit. Compute multiplies all numbers at the end, which counts, too.
func (g *Graph) work(step, point int) int {
	switch g.Kernel.Kind {
	case Compute, Imbalance:
		return 2*numbers*g.iterations(step, point) + numbers
	case Memory:
		return g.Kernel.Scratch / g.Kernel.Samples * g.Kernel.Iterations
	}
	return 0
}

// Work is that of all tasks, in the kernel's Unit.
func (g *Graph) Work() (all int) {
	if g.Kernel.Kind != Imbalance {
		return g.Tasks() * g.work(0, 0)
	}
	for step := range g.Steps {
		w := g.Window(step)
		for point := w.First; point <= w.Last; point++ {
			all += g.work(step, point)
		}
	}
	return all
}

// execute does the work of a task. Scratch is that of the point.
func (g *Graph) execute(step, point int, scratch []byte) {
	switch g.Kernel.Kind {
	case Compute, Imbalance:
		compute(g.iterations(step, point))
	case Memory:
		g.Kernel.copy(scratch, step)
	}
}

// initial is what Task Bench's kernel begins with. The numbers become infinite after some iterations, which are as
// fast.
var initial = func() (a [numbers]float64) {
	for i := range a {
		a[i] = float64(4 - i%4)
	}
	return a
}()

// compute returns a number that all iterations have a part in, so that no compiler leaves one out.
//
//go:noinline
func compute(iterations int) float64 {
	a := initial
	simd.SquareAdd(&a, iterations)
	product := 1.0
	for _, x := range a {
		product *= x
	}
	return product
}

// copy copies as many samples as there are iterations. It goes on where the step before has ended, and copies samples
// that lie together at once.
func (k *Kernel) copy(scratch []byte, step int) {
	size := len(scratch) / k.Samples
	for left, at := k.Iterations, step*k.Iterations%k.Samples; left > 0; at = 0 {
		n := min(left, k.Samples-at)
		part := scratch[at*size : (at+n)*size]
		copy(part[len(part)/2:], part[:len(part)/2])
		left -= n
	}
}
