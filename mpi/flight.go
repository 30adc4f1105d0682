package mpi

import "slices"

// overlaps reports whether two parts share an element.
func (l layout) overlaps() bool {
	end, sorted := 0, true
	for i, c := range l.counts {
		if c > 0 {
			sorted = sorted && l.displs[i] >= end
			end = l.displs[i] + c
		}
	}
	if sorted {
		return false
	}
	var order []int
	for i, c := range l.counts {
		if c > 0 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return l.displs[a] - l.displs[b] })
	for k := 1; k < len(order); k++ {
		if a := order[k-1]; l.displs[a]+l.counts[a] > l.displs[order[k]] {
			return true
		}
	}
	return false
}
