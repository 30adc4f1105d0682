package reduce

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/realm/internal/space"
)

// cases are those of Realm's reducetest: many reductions into few points, and few into many.
var cases = []struct {
	name          string
	points, count int
}{{"dense", 256 << 10, 4 << 20}, {"even", 256 << 10, 256 << 10}, {"sparse", 4 << 20, 64 << 10}, {
	"sparser", 1 << 20,
	16 << 10,
}}

type bench struct {
	s    space.Space
	op   *Op[float64, float64]
	at   []int64
	vals []float64
	to   *Target[float64, float64]
}

func newBench(b *testing.B, points, count int) *bench {
	x := &bench{
		s: space.Range(0, int64(points)), op: Sum[float64](), at: make([]int64, count),
		vals: make([]float64, count),
	}
	for k := range x.at {
		x.at[k], x.vals[k] = rand.Int64N(int64(points)), 1
	}
	lay, err := space.SOA(x.s, []space.Field{{Name: "v", Size: 8, Align: 8}})
	if err != nil {
		b.Fatal(err)
	}
	data := make([]float64, points)
	for i := range data {
		data[i] = 1 // so that the memory is there
	}
	if x.to, err = x.op.Onto(bytesOf(data), lay, 0, x.s, Exclusive); err != nil {
		b.Fatal(err)
	}
	return x
}

func (x *bench) report(b *testing.B) {
	b.ReportMetric(float64(len(x.at))*float64(b.N)/b.Elapsed().Seconds()/1e6, "M/s")
}

// BenchmarkFold makes an instance, reduces into it in batches and applies it.
func BenchmarkFold(b *testing.B) {
	for _, c := range cases {
		x := newBench(b, c.points, c.count)
		b.Run(c.name+"/new", func(b *testing.B) {
			for b.Loop() {
				f, _ := NewFold(x.op, x.s, Exclusive)
				x.fold(b, f)
			}
			x.report(b)
		})
		f, _ := NewFold(x.op, x.s, Exclusive)
		b.Run(c.name+"/reset", func(b *testing.B) {
			for b.Loop() {
				f.Reset()
				x.fold(b, f)
			}
			x.report(b)
		})
		b.Run(c.name+"/single", func(b *testing.B) {
			for b.Loop() {
				f.Reset()
				for k, i := range x.at {
					_ = f.Reduce(i, x.vals[k])
				}
				_ = f.Apply(x.to)
			}
			x.report(b)
		})
	}
}

func (x *bench) fold(b *testing.B, f *Fold[float64, float64]) {
	if err := f.ReduceAll(x.at, x.vals); err != nil {
		b.Fatal(err)
	}
	if err := f.Apply(x.to); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAtomicFold is BenchmarkFold in mode Atomic.
func BenchmarkAtomicFold(b *testing.B) {
	for _, c := range cases {
		x := newBench(b, c.points, c.count)
		b.Run(c.name+"/new", func(b *testing.B) {
			for b.Loop() {
				f, _ := NewFold(x.op, x.s, Atomic)
				x.fold(b, f)
			}
			x.report(b)
		})
		f, _ := NewFold(x.op, x.s, Atomic)
		b.Run(c.name+"/reset", func(b *testing.B) {
			for b.Loop() {
				f.Reset()
				x.fold(b, f)
			}
			x.report(b)
		})
		b.Run(c.name+"/reduce", func(b *testing.B) {
			for b.Loop() {
				_ = f.ReduceAll(x.at, x.vals)
			}
			x.report(b)
		})
	}
}

// BenchmarkList logs in batches and applies the log.
func BenchmarkList(b *testing.B) {
	for _, c := range cases {
		x := newBench(b, c.points, c.count)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				l, _ := NewList(x.op, x.s)
				_ = l.ReduceAll(x.at, x.vals)
				_ = l.Apply(x.to)
			}
			x.report(b)
		})
		b.Run(c.name+"/single", func(b *testing.B) {
			for b.Loop() {
				l, _ := NewList(x.op, x.s)
				for k, i := range x.at {
					_ = l.Reduce(i, x.vals[k])
				}
				_ = l.Apply(x.to)
			}
			x.report(b)
		})
	}
}

// BenchmarkDirect makes the reductions into the data, one by one: what instances are compared with.
func BenchmarkDirect(b *testing.B) {
	for _, c := range cases {
		x := newBench(b, c.points, c.count)
		data := make([]float64, c.points)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				for k, i := range x.at {
					data[i] += x.vals[k]
				}
			}
			x.report(b)
		})
	}
}

// BenchmarkWire encodes and replays chunks of 64 KiB.
func BenchmarkWire(b *testing.B) {
	for _, c := range cases {
		x := newBench(b, c.points, c.count)
		f, _ := NewFold(x.op, x.s, Exclusive)
		_ = f.ReduceAll(x.at, x.vals)
		l, _ := NewList(x.op, x.s)
		_ = l.ReduceAll(x.at, x.vals)
		buf := make([]byte, 64<<10)
		for _, e := range []struct {
			name string
			make func() *Encoder[float64]
		}{{"fold", f.Encoder}, {"list", l.Encoder}} {
			b.Run(fmt.Sprint(c.name, "/", e.name), func(b *testing.B) {
				bytes := 0
				for b.Loop() {
					bytes = 0
					enc := e.make()
					for chunk := enc.Next(buf); len(chunk) > 0; chunk = enc.Next(buf) {
						if err := x.to.Replay(chunk); err != nil {
							b.Fatal(err)
						}
						bytes += len(chunk)
					}
				}
				b.ReportMetric(float64(bytes)/float64(len(x.at)), "B/reduction")
				x.report(b)
			})
		}
	}
}
