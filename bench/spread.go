package bench

import (
	"fmt"
	"math"
	"slices"
)

// Spread is three values in ascending order, the middle one a median. Low and High are the quartiles, or the bounds of
// a confidence interval.
type Spread struct{ Low, Median, High float64 }

// SpreadOf is the median of values, at least one, between their quartiles.
func SpreadOf(values []float64) Spread { return spread(values, len(values)/4) }

// Against is the median of the ratios of a's values to those of b that were measured next to them. Low and High are the
// bounds of its confidence interval of 95 %, from the order of the ratios alone. a and b have the same length, at
// least one.
func Against(a, b []float64) Spread {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	n := float64(len(a))
	return spread(ratios, int(max(0, math.Floor(n/2-0.98*math.Sqrt(n)))))
}

// spread is the median of values between those that so many stand before and behind.
func spread(values []float64, outside int) Spread {
	v := slices.Sorted(slices.Values(values))
	return Spread{v[outside], v[len(v)/2], v[len(v)-1-outside]}
}

// Turns makes rows of what several implementations took in turns: values[i] are those of impls[i]. Each row is the
// median. The note has the quartiles, and the ratios to the implementations behind it, with their confidence intervals.
// like has what the rows have in common.
func Turns(like Row, impls []string, values [][]float64) (rows []Row) {
	for i, impl := range impls {
		s := SpreadOf(values[i])
		like.Impl, like.Value, like.MinShare, like.Reps = impl, s.Median, 1, len(values[i])
		like.Note = fmt.Sprintf("quartiles %s to %s", Significant(s.Low), Significant(s.High))
		for j := i + 1; j < len(impls); j++ {
			r := Against(values[i], values[j])
			like.Note += fmt.Sprintf("; %.4f [%.4f, %.4f] of %s", r.Median, r.Low, r.High, impls[j])
		}
		rows = append(rows, like)
	}
	return rows
}
