package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestDraw: a seed gives one graph, and as many wires leave their pieces as were asked for.
func TestDraw(t *testing.T) {
	for _, leave := range []int{0, 10, 50, 100} {
		g := draw(5, 40, 2000, leave, 3)
		if !reflect.DeepEqual(g, draw(5, 40, 2000, leave, 3)) {
			t.Error("one seed gives two graphs")
		}
		if reflect.DeepEqual(g.wires, draw(5, 40, 2000, leave, 4).wires) {
			t.Error("two seeds give one graph")
		}
		left, to := 0, make([]int, g.pieces) // wires by how far they go
		for p, wires := range g.wires {
			for _, w := range wires {
				if g.pieceOf(w.in) != p || w.out < 0 || g.pieceOf(w.out) >= g.pieces {
					t.Fatalf("piece %d: wire %+v", p, w)
				}
				if g.pieceOf(w.out) != p {
					left++
				}
				to[(g.pieceOf(w.out)-p+g.pieces)%g.pieces]++
			}
		}
		if part := float64(left) / 100; math.Abs(part-float64(leave)) > 2 {
			t.Errorf("%v%% leave their pieces, want %d%%", part, leave)
		}
		if to[2]+to[3] > 0 || math.Abs(float64(to[1]-to[4])) > 400 {
			t.Errorf("%d%% leave their pieces, to those beside them: %d", leave, to)
		}
	}
	if g := draw(1, 5, 100, 100, 1); len(g.bundles(0)) != 0 {
		t.Error("wires leave the only piece")
	}
}

// TestBundles: each wire that leaves is in one bundle, and each of its ghosts has a place in the piece's own count.
func TestBundles(t *testing.T) {
	g := draw(6, 30, 200, 40, 9)
	for p := range g.pieces {
		all := g.bundles(p)
		next := slices.IndexFunc(g.wires[p], func(w wire) bool { return g.pieceOf(w.out) != p })
		outside := ghosts(all)
		if !slices.IsSorted(outside) || len(slices.Compact(slices.Clone(outside))) != len(outside) {
			t.Errorf("piece %d: ghosts %v", p, outside)
		}
		for _, b := range all {
			if b.from != p || b.to == p || b.first != next || len(b.ends) != b.last-b.first {
				t.Errorf("piece %d: bundle %+v, want it to begin with wire %d", p, b, next)
			}
			next = b.last
		}
		if next != len(g.wires[p]) {
			t.Errorf("piece %d: the bundles end with wire %d of %d", p, next, len(g.wires[p]))
		}
		for i, w := range g.localize(p) {
			node := int64(p*g.each) + w.out
			if w.out >= int64(g.each) {
				node = outside[w.out-int64(g.each)]
			}
			if was := g.wires[p][i]; node != was.out || w.in+int64(p*g.each) != was.in {
				t.Errorf("piece %d: wire %+v has become %+v", p, was, w)
			}
		}
	}
}

// TestConserved: wires move charge, and neither make nor lose any.
func TestConserved(t *testing.T) {
	g := draw(4, 50, 200, 20, 11)
	before, after := serial(g, 0, 5), serial(g, 100, 5)
	if before.total() != after.total() || before.total() == 0 {
		t.Errorf("charge %d before, %d after", before.total(), after.total())
	}
	if err := after.same(before); !errors.Is(err, errDiffers) {
		t.Errorf("nothing has moved: %v", err)
	}
}

// TestCalm: in the end all nodes that wires connect have the voltage of the whole charge on the whole capacity.
func TestCalm(t *testing.T) {
	g := draw(3, 20, 200, 30, 5)
	s := serial(g, 5000, 3)
	capacity := 0.0
	for _, c := range g.capacity {
		capacity += c
	}
	want := float64(s.total()) / unit / capacity
	for i, v := range s.voltage {
		if math.Abs(v-want) > 1e-6 {
			t.Errorf("node %d has %v, want %v", i, v, want)
		}
	}
}

// TestPieces: pieces that exchange voltages and charges by hand compute what the whole does.
func TestPieces(t *testing.T) {
	g := draw(3, 25, 80, 30, 21)
	const steps, inner = 40, 4
	s := serial(g, 0, inner)
	landed := make([]int64, len(s.charge))
	current, moved := make([][]float64, g.pieces), make([][]int64, g.pieces)
	for p := range g.pieces {
		current[p], moved[p] = make([]float64, len(g.wires[p])), make([]int64, len(g.wires[p]))
	}
	for range steps {
		for p := range g.pieces {
			outside := ghosts(g.bundles(p))
			volts := make([]float64, len(outside))
			for i, node := range outside {
				volts[i] = s.voltage[node]
			}
			flow(current[p], moved[p], g.localize(p), s.voltage[p*g.each:][:g.each], volts, inner)
		}
		for p := range g.pieces {
			distribute(s.charge[p*g.each:][:g.each], moved[p], g.localize(p))
			for _, b := range g.bundles(p) {
				for i, node := range b.ends {
					landed[node] += moved[p][b.first+i]
				}
			}
		}
		update(s.voltage, s.charge, landed, g.capacity)
	}
	for i := range s.charge {
		s.charge[i] += landed[i]
	}
	if err := s.same(serial(g, steps, inner)); err != nil {
		t.Error(err)
	}
}

// TestSame finds a node that differs, in charge or in voltage.
func TestSame(t *testing.T) {
	g := draw(2, 10, 40, 10, 2)
	for i, change := range []func(s state){
		func(s state) { s.charge[7]++ },
		func(s state) { s.voltage[7] = math.Nextafter(s.voltage[7], 2) },
	} {
		s := serial(g, 5, 2)
		if err := s.same(serial(g, 5, 2)); err != nil {
			t.Error(err)
		}
		change(s)
		if err := s.same(serial(g, 5, 2)); !errors.Is(err, errDiffers) || !strings.Contains(fmt.Sprint(err), "node 7") {
			t.Errorf("change %d: %v", i, err)
		}
	}
}
