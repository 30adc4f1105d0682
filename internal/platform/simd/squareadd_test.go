package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestSquareAdd compares every form of the machine with the definition, also above what a kernel repeats at once.
func TestSquareAdd(t *testing.T) {
	r := random(t)
	for _, f := range runnableForms() {
		use(t, f)
		for _, n := range []int{0, 1, 2, 7, maxSteps - 1, maxSteps, maxSteps + 1, 2*maxSteps + 3} {
			checkSquareAdd(t, r, f.name, n)
		}
	}
}

// checkSquareAdd takes numbers from -1 to 0, for which the result stays there.
func checkSquareAdd(t *testing.T, r *rand.Rand, form string, n int) {
	var got [64]float64
	for i := range got {
		got[i] = -r.Float64()
	}
	want := got
	SquareAdd(&got, n)
	for i, x := range want {
		for range n {
			x = math.FMA(x, x, x)
		}
		if math.Float64bits(got[i]) != math.Float64bits(x) {
			t.Fatalf("%s, %d times: a[%d] is %g, want %g", form, n, i, got[i], x)
		}
	}
}

func TestSquareAddAllocatesNothing(t *testing.T) {
	sum := 0.0
	if n := testing.AllocsPerRun(100, func() {
		a := [64]float64{1: -0.5}
		SquareAdd(&a, 3)
		sum += a[1]
	}); n > 0 || sum == 0 {
		t.Errorf("%g allocations, sum %g", n, sum)
	}
}

func BenchmarkSquareAdd(b *testing.B) {
	const steps = 1000
	for _, f := range runnableForms() {
		b.Run("form="+f.name, func(b *testing.B) {
			use(b, f)
			var a [64]float64
			for b.Loop() {
				SquareAdd(&a, steps)
			}
			b.ReportMetric(float64(b.N)*128*steps/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}
