package taskbench

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestAgainstTaskBench compares with what the original computes. testdata/golden.cc says how golden.txt was made.
func TestAgainstTaskBench(t *testing.T) {
	f, err := os.Open("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var g Graph
	seen := make(map[Type]int)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		var got string
		var a, b int
		switch {
		case strings.HasPrefix(line, "graph"):
			g = goldenGraph(t, line)
			continue
		case scan(line, "step %d offset", &a):
			got = goldenStep(&g, a)
		case scan(line, "set %d point %d:", &a, &b):
			got = goldenPoint(&g, a, b)
		}
		if seen[g.Type]++; got != line {
			t.Errorf("line %d, %+v:\n%s\n%s, want that", n, g, got, line)
		}
	}
	for _, typ := range Types() {
		if seen[typ] < 25 {
			t.Errorf("only %d lines about %v", seen[typ], typ)
		}
	}
}

func scan(line, format string, to ...any) bool {
	n, _ := fmt.Sscanf(line, format, to...)
	return n == len(to)
}

func goldenGraph(t *testing.T, line string) Graph {
	var g Graph
	var name string
	if !scan(line, "graph %s steps=%d width=%d radix=%d period=%d fraction=%g index=%d", &name, &g.Steps, &g.Width,
		&g.Radix, &g.Period, &g.Fraction, &g.Index) {
		t.Fatalf("line %q", line)
	}
	var err error
	if g.Type, err = ParseType(name); err != nil {
		t.Fatal(err)
	}
	g.Payload = 16
	g.Kernel = Kernel{Kind: Imbalance, Iterations: 1000, Imbalance: 1.5}
	if err := g.Check(); err != nil {
		t.Fatalf("line %q: %v", line, err)
	}
	return g
}

func goldenStep(g *Graph, step int) string {
	w := g.Window(step)
	text := fmt.Sprintf("step %d offset %d width %d set %d iterations", step, w.First, w.Len(), g.SetAt(step))
	for point := w.First; point <= w.Last; point++ {
		text += fmt.Sprint(" ", g.iterations(step, point))
	}
	return text
}

func goldenPoint(g *Graph, set, point int) string {
	text := fmt.Sprintf("set %d point %d:", set, point)
	for _, i := range g.Dependencies(set, point) {
		text += fmt.Sprintf(" %d-%d", i.First, i.Last)
	}
	text += " /"
	for _, i := range g.ReverseDependencies(set, point) {
		text += fmt.Sprintf(" %d-%d", i.First, i.Last)
	}
	return text
}
