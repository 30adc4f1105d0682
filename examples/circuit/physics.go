package main

import "math"

// A charge is a number in fixed point, so that the sum of several does not depend on their order.
const unit = 1 << 32

// duration is the time of a step. It is short against what a node takes to charge.
const duration = 0.01

// flow computes the currents of wires to the end of a step, in so many inner iterations, and the charge that each of
// them moves meanwhile. The voltages are those of the own nodes, then those of the ghosts.
func flow(current []float64, moved []int64, wires []wire, own, ghosts []float64, inner int) {
	h := duration / float64(inner)
	for i, w := range wires {
		out := 0.0
		if n := int(w.out); n < len(own) {
			out = own[n]
		} else {
			out = ghosts[n-len(own)]
		}
		drop, c, sum := own[w.in]-out, current[i], 0.0
		for range inner {
			c += h / w.inductance * (drop - w.resistance*c)
			sum += c
		}
		current[i] = c
		moved[i] = int64(math.Round(sum * h * unit))
	}
}

// distribute moves the charges between own nodes. Those for ghosts are left to the caller.
func distribute(charge, moved []int64, wires []wire) {
	for i, w := range wires {
		charge[w.in] -= moved[i]
		if int(w.out) < len(charge) {
			charge[w.out] += moved[i]
		}
	}
}

// update computes the voltages of nodes. Their charge is what their piece has moved, and what has landed from others.
func update(voltage []float64, charge, landed []int64, capacity []float64) {
	for i := range voltage {
		voltage[i] = float64(charge[i]+landed[i]) / unit / capacity[i]
	}
}

// load is the charge of nodes at these voltages.
func load(charge []int64, voltage, capacity []float64) {
	for i := range charge {
		charge[i] = int64(math.Round(voltage[i] * capacity[i] * unit))
	}
}
