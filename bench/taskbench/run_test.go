package taskbench

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// all is a run of all points of g.
func all(t testing.TB, g Graph) *Run {
	return NewRun(plan(t, g), Interval{0, g.Width - 1})
}

func TestSerial(t *testing.T) {
	for _, g := range graphs() {
		for _, k := range []Kernel{
			{},
			{Kind: Compute, Iterations: 3},
			{Kind: Memory, Iterations: 21, Scratch: 1 << 10, Samples: 8},
			{Kind: Imbalance, Iterations: 4, Imbalance: 2},
		} {
			g.Kernel = k
			r := all(t, g)
			for range 2 {
				if took, err := (Serial{}).Run(r); err != nil || took <= 0 {
					t.Fatalf("%+v: %v, %v", g, took, err)
				}
				if err := r.End(); err != nil {
					t.Errorf("%+v: %v", g, err)
				}
			}
		}
	}
}

// wrong is Serial with a fault, in the task of step 3 and point 2.
type wrong struct {
	inputs func(in [][]Stamp) [][]Stamp
	task   func(r *Run, out []Stamp, in [][]Stamp)
}

func (f wrong) Run(r *Run) (time.Duration, error) {
	outputs := [2][][]Stamp{r.output(r.Width), r.output(r.Width)}
	for step := range r.Steps {
		from, to := outputs[(step+1)%2], outputs[step%2]
		w := r.Window(step)
		for point := w.First; point <= w.Last; point++ {
			var in [][]Stamp
			for _, p := range r.Inputs(step, point) {
				in = append(in, from[p])
			}
			if step != 3 || point != 2 {
				r.Task(step, point, to[point], in)
				continue
			}
			if f.inputs != nil {
				in = f.inputs(in)
			}
			if f.task != nil {
				f.task(r, to[point], in)
				continue
			}
			r.Task(step, point, to[point], in)
		}
	}
	return 1, nil
}

// TestWrongRunners: each way to execute a graph wrongly is found, and told.
func TestWrongRunners(t *testing.T) {
	g := Graph{Type: Stencil1D, Steps: 6, Width: 5, Payload: 32}
	for text, f := range map[string]wrong{
		"input 0 of task (3, 2), stamp 0: that of task (2, 2), want that of task (2, 1)": {
			inputs: func(in [][]Stamp) [][]Stamp { in[0], in[1] = in[1], in[0]; return in },
		},
		"task (3, 2) has 2 inputs, want 3": {inputs: func(in [][]Stamp) [][]Stamp { return in[:2] }},
		"input 2 of task (3, 2) has 16 bytes, want 32": {
			inputs: func(in [][]Stamp) [][]Stamp { in[2] = in[2][:1]; return in },
		},
		"input 1 of task (3, 2), stamp 1: that of task (1, 2), want that of task (2, 2)": {
			inputs: func(in [][]Stamp) [][]Stamp { in[1] = []Stamp{in[1][0], {1, 2}}; return in },
		},
		"task (3, 2) did not run": {
			task: func(_ *Run, out []Stamp, _ [][]Stamp) { out[0], out[1] = Stamp{3, 2}, Stamp{3, 2} },
		},
		"task (3, 2) runs twice": {
			task: func(r *Run, out []Stamp, in [][]Stamp) { r.Task(3, 2, out, in); r.Task(3, 2, out, in) },
		},
		"task (3, 2) has room for 16 bytes, want 32": {
			task: func(r *Run, out []Stamp, in [][]Stamp) { r.Task(3, 2, out[:1], in); out[1] = out[0] },
		},
	} {
		r := all(t, g)
		if _, err := f.Run(r); err != nil {
			t.Fatal(err)
		}
		if err := r.End(); !errors.Is(err, ErrResult) || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
		if _, err := (Serial{}).Run(r); err != nil {
			t.Fatal(err)
		}
		if err := r.End(); err != nil {
			t.Errorf("after %q: %v", text, err)
		}
	}
}

// TestWork: the amounts are those of Task Bench, for one task and in all.
func TestWork(t *testing.T) {
	for _, c := range []struct {
		k    Kernel
		want int
		unit string
	}{
		{Kernel{Iterations: 7}, 0, ""},
		{Kernel{Kind: Compute, Iterations: 7}, 12 * (2*64*7 + 64), "FLOP"},
		{Kernel{Kind: Memory, Iterations: 7, Scratch: 1 << 12, Samples: 16}, 12 * 7 * 256, "B"},
		{Kernel{Kind: Imbalance, Iterations: 7}, 12 * (2*64*7 + 64), "FLOP"},
		{
			Kernel{Kind: Imbalance, Iterations: 1000, Imbalance: 1.5},
			2*64*(1656+429+1496+1727+1294+624+970+1058+1529+389+410+1628) + 12*64, "FLOP",
		},
	} {
		g := Graph{Type: NoComm, Steps: 3, Width: 4, Payload: 16, Kernel: c.k}
		if err := g.Check(); err != nil {
			t.Fatal(err)
		}
		if got := g.Work(); got != c.want || g.Kernel.Unit() != c.unit {
			t.Errorf("%+v: %d %s, want %d %s", c.k, got, g.Kernel.Unit(), c.want, c.unit)
		}
	}
}

// TestMemoryKernel follows the bytes: a step copies as many samples as it has iterations, and the next one goes on
// where it has ended.
func TestMemoryKernel(t *testing.T) {
	k := Kernel{Kind: Memory, Iterations: 3, Scratch: 16, Samples: 4}
	scratch := []byte("abcdefghijklmnop")
	for step, want := range []string{"abcdefabcdefmnop", "abcdabcdcdefmnmn", "abababcdcdefcdef"} {
		if k.copy(scratch, step); string(scratch) != want {
			t.Errorf("step %d: %q, want %q", step, scratch, want)
		}
	}
}

func TestTaskAllocatesNothing(t *testing.T) {
	g := Graph{Type: NoComm, Steps: 1000, Width: 1, Payload: 16, Kernel: Kernel{Kind: Compute, Iterations: 1}}
	r := all(t, g)
	out := r.output(1)
	r.Task(0, 0, out[0], nil)
	step := 0
	n := testing.AllocsPerRun(100, func() {
		step++
		r.Task(step, 0, out[0], out)
	})
	if err := r.failed.Load(); n > 0 || step < 100 || err != nil {
		t.Errorf("%g allocations in %d steps, %v", n, step, err)
	}
}
