package reduce

import (
	"fmt"
	"testing"
	"time"
)

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
		{Case{Points: 4 << 20, Reductions: 64 << 20, LSize: 8, RSize: 8}, KindList},
		{Case{Points: 4 << 20, Reductions: 64 << 20, LSize: 8, RSize: 8, Remote: true}, KindFold},
		{Case{Points: 64 << 10, Reductions: 512 << 10, LSize: 8, RSize: 8}, KindFold},
		{Case{Points: 64 << 10, Reductions: 64 << 10, LSize: 8, RSize: 8, Reused: true}, KindList},
		{Case{Points: 10, Reductions: 1000, LSize: 8, RSize: 8}, KindFold},
		{Case{Points: 10, Reductions: 3, LSize: 8, RSize: 8}, KindList},
		{Case{Points: 1000, Reductions: 5000, LSize: 64, RSize: 64, Reused: true}, KindFold},
		{Case{Points: 0, Reductions: 0}, KindList},
	} {
		if got := c.Choose(); got != c.want {
			t.Errorf("%+v: %v (%.0f ns against %.0f), want %v", c.Case, got, c.fold(), c.listCost(), c.want)
		}
	}
	// With more reductions a fold can only become better, but for so few points that the page costs more than all else.
	for points := int64(25); points < 1<<24; points *= 5 {
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

// BenchmarkChoose compares a fold with a list at several densities: nanoseconds of a reduction into each, whether
// Choose takes the fold, and how many times the time of the better one its choice takes.
func BenchmarkChoose(b *testing.B) {
	for _, points := range []int{64 << 10, 1 << 20, 4 << 20} {
		for _, density := range []float64{1. / 256, 1. / 64, 1. / 8, .5, 1, 2, 4, 8, 16} {
			if density > 4 && points > 1<<20 {
				continue
			}
			x := newBench(b, points, int(float64(points)*density))
			for _, c := range []Case{{}, {Reused: true}} {
				c.Points, c.Reductions, c.LSize, c.RSize = int64(points), int64(len(x.at)), 8, 8
				b.Run(fmt.Sprintf("points=%dKi/each=%v/reused=%v", points>>10, density, c.Reused), func(b *testing.B) {
					x.choose(b, c)
				})
			}
		}
	}
}

func (x *bench) choose(b *testing.B, c Case) {
	var took [2]time.Duration // by kind
	f, _ := NewFold(x.op, x.s, Exclusive)
	x.fold(b, f)
	for b.Loop() {
		start := time.Now()
		if c.Reused {
			f.Reset()
		} else {
			f, _ = NewFold(x.op, x.s, Exclusive)
		}
		x.fold(b, f)
		took[KindFold] += time.Since(start)
		start = time.Now()
		l, _ := NewList(x.op, x.s)
		_ = l.ReduceAll(x.at, x.vals)
		_ = l.Apply(x.to)
		took[KindList] += time.Since(start)
	}
	each := float64(b.N) * float64(len(x.at))
	b.ReportMetric(float64(took[KindFold])/each, "fold-ns")
	b.ReportMetric(float64(took[KindList])/each, "list-ns")
	b.ReportMetric(float64(1-c.Choose()), "chosen-fold")
	b.ReportMetric(float64(took[c.Choose()])/float64(min(took[0], took[1])), "times-best")
}
