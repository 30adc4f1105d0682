package chart

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

const mostLabels = 12

// binary marks powers of two, which sizes and numbers of threads are.
type binary struct{}

// Ticks implements plot.Ticker.
func (binary) Ticks(least, most float64) (ticks []plot.Tick) {
	first, last := int(math.Ceil(math.Log2(least))), int(math.Floor(math.Log2(most)))
	first = max(first, 0)
	step := (last-first)/mostLabels + 1
	for i := first; i <= last; i++ {
		t := plot.Tick{Value: math.Ldexp(1, i)}
		if i%step == 0 {
			t.Label = power(i)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// power writes 2^i with the unit of its thousands.
func power(i int) string {
	const units = "KMGTPE"
	if i < 10 {
		return strconv.Itoa(1 << i)
	}
	return fmt.Sprintf("%d%ci", 1<<(i%10), units[i/10-1])
}

// decimal marks powers of ten, and between them 2 and 5 where there are few powers.
type decimal struct{}

// Ticks implements plot.Ticker.
func (decimal) Ticks(least, most float64) (ticks []plot.Tick) {
	decades := math.Log10(most / least)
	for d := math.Floor(math.Log10(least)); d <= math.Ceil(math.Log10(most)); d++ {
		for digit := 1.0; digit < 10; digit++ {
			v := digit * math.Pow(10, d)
			if v < least || v > most {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || decades < 3 && (digit == 2 || digit == 5) || decades < 0.4 {
				t.Label = strconv.FormatFloat(v, 'g', 3, 64)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}
