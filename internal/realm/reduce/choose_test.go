package reduce

import "testing"

// TestChoose has the kinds that the benchmarks find faster.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		Case
		want Kind
	}{
		{Case{Points: 256 << 10, Reductions: 4 << 20, LSize: 8, RSize: 8}, KindFold},
		{Case{Points: 256 << 10, Reductions: 4 << 20, LSize: 8, RSize: 8, Remote: true}, KindFold},
		{Case{Points: 256 << 10, Reductions: 4 << 20, LSize: 8, RSize: 8, NoFold: true}, KindList},
		{Case{Points: 256 << 10, Reductions: 256 << 10, LSize: 8, RSize: 8}, KindList},
		{Case{Points: 4 << 20, Reductions: 64 << 10, LSize: 8, RSize: 8}, KindList},
		{Case{Points: 4 << 20, Reductions: 64 << 10, LSize: 8, RSize: 8, Reused: true, Remote: true}, KindList},
		{Case{Points: 10, Reductions: 1000, LSize: 8, RSize: 8}, KindFold},
		{Case{Points: 10, Reductions: 3, LSize: 8, RSize: 8}, KindList},
		{Case{Points: 1000, Reductions: 5000, LSize: 64, RSize: 64, Reused: true}, KindFold},
		{Case{Points: 0, Reductions: 0}, KindList},
	} {
		if got := c.Choose(); got != c.want {
			t.Errorf("%+v: %v (%.0f ns against %.0f), want %v", c.Case, got, c.fold(), c.list(), c.want)
		}
	}
	// With more reductions a fold can only become better.
	for points := int64(1); points < 1<<24; points *= 5 {
		fold := false
		for m := int64(1); m < 1<<30; m *= 2 {
			k := Case{Points: points, Reductions: m, LSize: 8, RSize: 8}.Choose()
			if fold && k == KindList {
				t.Errorf("%d points, %d reductions: a list again", points, m)
			}
			fold = k == KindFold
		}
	}
}
