package taskbench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSmallTables has relations that can be checked by looking at them: the points that each point depends on, at some
// steps.
func TestSmallTables(t *testing.T) {
	for _, c := range []struct {
		g    Graph
		step int
		want string // by point; "-" without a task
	}{
		{Graph{Type: Trivial, Width: 3}, 1, "[] [] []"},
		{Graph{Type: NoComm, Width: 3}, 1, "[0] [1] [2]"},
		{Graph{Type: Stencil1D, Width: 4}, 0, "[] [] [] []"},
		{Graph{Type: Stencil1D, Width: 4}, 1, "[0 1] [0 1 2] [1 2 3] [2 3]"},
		{Graph{Type: Stencil1DPeriodic, Width: 4}, 3, "[0 1 3] [0 1 2] [1 2 3] [2 3 0]"},
		{Graph{Type: Dom, Width: 4}, 1, "[0] [0] - -"},
		{Graph{Type: Dom, Width: 4}, 3, "[0] [0 1] [1 2] [2]"},
		{Graph{Type: Dom, Width: 4}, 7, "- - - [2 3]"},
		{Graph{Type: Tree, Width: 4}, 1, "[0] [0] - -"},
		{Graph{Type: Tree, Width: 4}, 2, "[0] [0] [1] [1]"},
		{Graph{Type: FFT, Width: 4}, 1, "[0 1] [0 1 2] [1 2 3] [2 3]"},
		{Graph{Type: FFT, Width: 4}, 2, "[0 2] [1 3] [0 2] [1 3]"},
		{Graph{Type: AllToAll, Width: 3}, 2, "[0 1 2] [0 1 2] [0 1 2]"},
		{Graph{Type: Nearest, Width: 4, Radix: 2}, 1, "[0] [0 1] [1 2] [2 3]"},
		{Graph{Type: Nearest, Width: 4, Radix: 0}, 1, "[] [] [] []"},
		{Graph{Type: Spread, Width: 6, Radix: 2, Period: 3}, 0, "[] [] [] [] [] []"},
		{Graph{Type: Spread, Width: 6, Radix: 2, Period: 3}, 1, "[0 4] [1 5] [2 0] [3 1] [4 2] [5 3]"},
		{Graph{Type: RandomNearest, Width: 4, Radix: 3, Fraction: 0}, 1, "[0] [1] [2] [3]"},
		{Graph{Type: RandomNearest, Width: 4, Radix: 3, Fraction: 1}, 1, "[0 1] [0 1 2] [1 2 3] [2 3]"},
	} {
		c.g.Steps, c.g.Payload = 8, 16
		p := plan(t, c.g)
		var got []string
		for point := range c.g.Width {
			if p.Window(c.step).Has(point) {
				got = append(got, fmt.Sprint(p.Inputs(c.step, point)))
			} else {
				got = append(got, "-")
			}
		}
		if all := strings.Join(got, " "); all != c.want {
			t.Errorf("%v, step %d: %s, want %s", c.g.Type, c.step, all, c.want)
		}
	}
}

// mirrored tells where dependencies and reverse dependencies of p do not agree, or a list has a point twice or one
// without a task.
func mirrored(p *Plan) error {
	for step := range p.Steps {
		w, next := p.Window(step), p.Window(step+1)
		for point := w.First; point <= w.Last; point++ {
			for _, in := range p.Inputs(step, point) {
				if !slices.Contains(p.Outputs(step-1, in), point) {
					return fmt.Errorf("(%d, %d) depends on point %d, which does not know", step, point, in)
				}
			}
			out := slices.Sorted(slices.Values(p.Outputs(step, point)))
			if len(slices.Compact(slices.Clone(out))) != len(out) {
				return fmt.Errorf("(%d, %d) has outputs %d", step, point, out)
			}
			for _, to := range out {
				if !next.Has(to) || !slices.Contains(p.Inputs(step+1, to), point) {
					return fmt.Errorf("(%d, %d) hands to point %d, which does not depend on it", step, point, to)
				}
			}
		}
	}
	return nil
}

// TestMirrored: in arbitrary graphs both directions of all relations agree, and windows are within the width.
func TestMirrored(t *testing.T) {
	r := random(t)
	seen := make(map[Type]int)
	for range 4000 {
		g := arbitrary(r)
		p, err := NewPlan(g)
		if err != nil {
			continue
		}
		seen[g.Type]++
		for step := range g.Steps {
			if w := p.Window(step); w.First < 0 || w.Last >= g.Width || w.Len() == 0 {
				t.Fatalf("%+v: window %v of step %d", g, w, step)
			}
		}
		if err := mirrored(p); err != nil {
			t.Fatalf("%+v: %v", g, err)
		}
	}
	for _, typ := range Types() {
		if seen[typ] < 50 {
			t.Errorf("only %d graphs of type %v", seen[typ], typ)
		}
	}
}

// TestCounts: graphs have the number of tasks and dependencies that follows from their definition.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		g           Graph
		tasks, deps int
	}{
		{Graph{Type: Trivial, Steps: 5, Width: 4}, 20, 0},
		{Graph{Type: NoComm, Steps: 5, Width: 4}, 20, 16},
		{Graph{Type: Stencil1D, Steps: 5, Width: 4}, 20, 4 * (3*4 - 2)},
		{Graph{Type: Stencil1DPeriodic, Steps: 5, Width: 4}, 20, 4 * 3 * 4},
		{Graph{Type: Dom, Steps: 7, Width: 4}, 1 + 2 + 3 + 4 + 3 + 2 + 1, 2 + 4 + 6 + 2*(3+2+1)},
		{Graph{Type: Tree, Steps: 5, Width: 4}, 1 + 2 + 3*4, 2 + 3*4},
		{Graph{Type: FFT, Steps: 5, Width: 4}, 20, 10 + 8 + 10 + 8},
		{Graph{Type: AllToAll, Steps: 5, Width: 4}, 20, 4 * 16},
		{Graph{Type: Spread, Steps: 5, Width: 4, Radix: 2, Period: 2}, 20, 4 * 8},
	} {
		c.g.Payload = 16
		p := plan(t, c.g)
		deps := 0
		for step := range p.Steps {
			w := p.Window(step)
			for point := w.First; point <= w.Last; point++ {
				deps += len(p.Inputs(step, point))
			}
		}
		if p.Tasks() != c.tasks || deps != c.deps {
			t.Errorf("%v: %d tasks and %d dependencies, want %d and %d", c.g.Type, p.Tasks(), deps, c.tasks, c.deps)
		}
	}
}

func TestBadGraphs(t *testing.T) {
	good := Graph{Type: Stencil1D, Steps: 4, Width: 4, Radix: 3, Payload: 16}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for text, spoil := range map[string]func(*Graph){
		"Type(11)":      func(g *Graph) { g.Type = types },
		"0 steps":       func(g *Graph) { g.Steps = 0 },
		"width 0":       func(g *Graph) { g.Width = 0 },
		"width 9000":    func(g *Graph) { g.Width = 9000 },
		"payload 0":     func(g *Graph) { g.Payload = 0 },
		"payload 24":    func(g *Graph) { g.Payload = 24 },
		"at least 3":    func(g *Graph) { g.Type, g.Width = Stencil1DPeriodic, 2 },
		"at least 2":    func(g *Graph) { g.Type, g.Width = FFT, 1 },
		"radix -1":      func(g *Graph) { g.Type, g.Radix = Nearest, -1 },
		"radix 0":       func(g *Graph) { g.Type, g.Radix = RandomNearest, 0 },
		"radix 5":       func(g *Graph) { g.Type, g.Radix = Spread, 5 },
		"period 2":      func(g *Graph) { g.Period = 2 },
		"at most 2":     func(g *Graph) { g.Type, g.Period = Spread, 3 },
		"fraction":      func(g *Graph) { g.Fraction = 1.5 },
		"Kind(4)":       func(g *Graph) { g.Kernel.Kind = kinds },
		"-1 iterations": func(g *Graph) { g.Kernel.Iterations = -1 },
		"imbalance 3":   func(g *Graph) { g.Kernel.Imbalance = 3 },
		"-1 samples":    func(g *Graph) { g.Kernel.Samples = -1 },
		"100 bytes of":  func(g *Graph) { g.Kernel.Kind, g.Kernel.Scratch = Memory, 100 },
	} {
		g := good
		spoil(&g)
		if err := g.Check(); !errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, name := range []string{"", "stencil", "Tree"} {
		if _, err := ParseType(name); !errors.Is(err, ErrGraph) {
			t.Errorf("type %q: %v", name, err)
		}
		if _, err := ParseKind(name); !errors.Is(err, ErrGraph) {
			t.Errorf("kernel %q: %v", name, err)
		}
	}
	for _, typ := range Types() {
		if got, err := ParseType(typ.String()); got != typ || err != nil {
			t.Errorf("type %v: %v, %v", typ, got, err)
		}
	}
	for k := range kinds {
		if got, err := ParseKind(k.String()); got != k || err != nil {
			t.Errorf("kernel %v: %v, %v", k, got, err)
		}
	}
}
