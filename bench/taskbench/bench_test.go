package taskbench

import (
	"testing"

	"github.com/golci/golci/mpi"
)

// benchGraph is the graph of METG, with tasks of nothing: what is left is the cost of a runner.
func benchGraph(typ Type) Graph {
	return Graph{Type: typ, Steps: 1000, Width: 4, Radix: 3, Fraction: 0.25, Payload: 16}
}

func benchRunner(b *testing.B, p *Plan, runner Runner, r *Run) {
	b.ReportAllocs()
	took := 0.0
	for b.Loop() {
		d, err := runner.Run(r)
		if err == nil {
			err = r.End()
		}
		if err != nil {
			b.Fatal(err)
		}
		took += d.Seconds()
	}
	b.ReportMetric(1e9*took/float64(b.N*p.Tasks()), "ns/task")
}

// BenchmarkRunners has the cost of a task of all runners on one core.
func BenchmarkRunners(b *testing.B) {
	for _, typ := range []Type{Stencil1D, FFT, Tree, Trivial} {
		p := plan(b, benchGraph(typ))
		own := Interval{0, p.Width - 1}
		b.Run("runner=serial/type="+typ.String(), func(b *testing.B) { benchRunner(b, p, Serial{}, NewRun(p, own)) })
		b.Run("runner=goroutines/type="+typ.String(), func(b *testing.B) {
			benchRunner(b, p, Goroutines{1},
				NewRun(p, own))
		})
		b.Run("runner=threads/type="+typ.String(), func(b *testing.B) {
			if err := mpi.Run(1, func(c *mpi.Comm) error {
				benchRunner(b, p, Threads{c}, NewRun(p, own))
				return nil
			}, mpi.WithWorkers(1)); err != nil {
				b.Error(err)
			}
		})
		b.Run("runner=realm/type="+typ.String(), func(b *testing.B) {
			if err := onRealm(1, 1, func(m *Realm) error {
				benchRunner(b, p, m, NewRun(p, own))
				return nil
			}); err != nil {
				b.Error(err)
			}
		})
	}
}
