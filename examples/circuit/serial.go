package main

import (
	"errors"
	"fmt"
	"slices"
)

// state is the voltages and charges of all nodes.
type state struct {
	voltage []float64
	charge  []int64
}

// serial computes steps of the whole graph in one piece.
func serial(g *graph, steps, inner int) state {
	n := len(g.capacity)
	s := state{make([]float64, n), make([]int64, n)}
	none := make([]int64, n)
	wires := slices.Concat(g.wires...)
	current, moved := make([]float64, len(wires)), make([]int64, len(wires))
	load(s.charge, g.voltage, g.capacity)
	update(s.voltage, s.charge, none, g.capacity)
	for range steps {
		flow(current, moved, wires, s.voltage, nil, inner)
		distribute(s.charge, moved, wires)
		update(s.voltage, s.charge, none, g.capacity)
	}
	return s
}

// total is the charge of all nodes.
func (s state) total() (sum int64) {
	for _, c := range s.charge {
		sum += c
	}
	return sum
}

var errDiffers = errors.New("the circuit differs from that of a serial run")

// same compares two states to the last bit.
func (s state) same(want state) error {
	for i := range want.charge {
		if s.charge[i] != want.charge[i] || s.voltage[i] != want.voltage[i] {
			return fmt.Errorf("%w: node %d has charge %d and voltage %v, not %d and %v",
				errDiffers, i, s.charge[i], s.voltage[i], want.charge[i], want.voltage[i])
		}
	}
	return nil
}
