package rma

import (
	"encoding/binary"
	"fmt"
	"testing"
	"time"
)

// The benchmarks print each figure beside that of the machine for the same work. Both are measured in turns in the same
// run, because both change with other work on the machine.

// turns is how often each side is measured; the least is taken.
const turns = 7

// versus reports the time of one call of f, of raw, their ratio and difference.
func versus(b *testing.B, n int, f, raw func(i int)) {
	var ours, theirs time.Duration
	each := max(1, b.N/turns)
	b.ResetTimer()
	for t := range turns {
		if d := clock(each, raw); t == 0 || d < theirs {
			theirs = d
		}
		if d := clock(each, f); t == 0 || d < ours {
			ours = d
		}
	}
	b.StopTimer()
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / float64(each) }
	b.ReportMetric(per(ours), "ns/rma")
	b.ReportMetric(per(theirs), "ns/raw")
	b.ReportMetric(per(ours)-per(theirs), "ns/more")
	b.ReportMetric(per(ours)/per(theirs), "ratio")
	b.ReportMetric(float64(n)/per(ours), "GB/s")
}

func clock(n int, f func(i int)) time.Duration {
	start := time.Now()
	for i := range n {
		f(i)
	}
	return time.Since(start)
}

func BenchmarkDirect(b *testing.B) {
	b.Setenv(bindEnv, "1")
	cmd, c, m := startChild(b, "serve", Config{})
	for _, n := range []int{8, 64, 1 << 10, 4 << 10, 64 << 10, 1 << 20} {
		src := pattern(n, 1)
		b.Run(fmt.Sprintf("put/size=%d", n), func(b *testing.B) {
			dst := m.peers[0].Load().mem[:n] // shared memory as well, so that pages and caches are alike
			bind(0)
			versus(b, n, func(int) { fatal(b, m.Put(1, 0, src)) }, func(int) { copy(dst, src) })
		})
		b.Run(fmt.Sprintf("get/size=%d", n), func(b *testing.B) {
			dst := make([]byte, n)
			own := m.peers[0].Load().mem[:n]
			versus(b, n, func(int) { fatal(b, m.Get(1, 0, dst)) }, func(int) { copy(dst, own) })
		})
	}
	cell := m.Segment()[64:72]
	b.Run("putvalue", func(b *testing.B) {
		versus(b, 8, func(i int) { fatal(b, m.PutValue(1, 64, uint64(i), 8)) },
			func(i int) { binary.LittleEndian.PutUint64(cell, uint64(i)) })
	})
	b.Run("getvalue", func(b *testing.B) {
		sum := uint64(0)
		versus(b, 8, func(int) {
			v, err := m.GetValue(1, 64, 8)
			fatal(b, err)
			sum += v
		}, func(int) { sum += binary.LittleEndian.Uint64(cell) })
	})
	b.Run("fetchadd", func(b *testing.B) {
		k := m.counter(9).count
		versus(b, 8, func(int) {
			_, err := FetchAdd[int64](m, 1, 128, 1)
			fatal(b, err)
		}, func(int) { k.Add(1) })
	})
	b.Run("fetchadd-float64", func(b *testing.B) {
		k := m.counter(9).count
		versus(b, 8, func(int) {
			_, err := FetchAdd[float64](m, 1, 136, 1)
			fatal(b, err)
		}, func(int) { k.CompareAndSwap(k.Load(), 1) })
	})
	endChild(b, cmd.Wait, c.Close)
}

func fatal(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

func endChild(b *testing.B, wait, stop func() error) {
	fatal(b, stop())
	fatal(b, wait())
}

// BenchmarkMessages is the same by active messages; the other process polls.
func BenchmarkMessages(b *testing.B) {
	b.Setenv(bindEnv, "1")
	cmd, c, m := startChild(b, "serve-am", Config{ActiveMessages: true})
	for _, n := range []int{8, 4 << 10, 1 << 20} {
		src, dst := pattern(n, 1), make([]byte, n)
		b.Run(fmt.Sprintf("put/size=%d", n), func(b *testing.B) {
			bind(0)
			b.SetBytes(int64(n))
			for b.Loop() {
				fatal(b, m.Put(1, 0, src))
			}
		})
		b.Run(fmt.Sprintf("get/size=%d", n), func(b *testing.B) {
			bind(0)
			b.SetBytes(int64(n))
			for b.Loop() {
				fatal(b, m.Get(1, 0, dst))
			}
		})
	}
	b.Run("put-implicit/size=8", func(b *testing.B) {
		bind(0)
		ctx, src := m.NewContext(), pattern(8, 1)
		for i := 0; b.Loop(); i++ {
			fatal(b, ctx.Put(1, 0, src))
			if i%256 == 255 {
				fatal(b, ctx.WaitPuts())
			}
		}
		fatal(b, ctx.WaitPuts())
	})
	b.Run("fetchadd", func(b *testing.B) {
		bind(0)
		for b.Loop() {
			_, err := FetchAdd[int64](m, 1, 128, 1)
			fatal(b, err)
		}
	})
	endChild(b, cmd.Wait, c.Close)
}

// BenchmarkNotify is a put with notification there and back, both ranks waiting by count.
func BenchmarkNotify(b *testing.B) {
	b.Setenv(bindEnv, "1")
	for _, n := range []int{8, 4 << 10} {
		b.Run(fmt.Sprintf("size=%d", n), func(b *testing.B) {
			cmd, c, m := startChild(b, "echo", Config{})
			bind(0)
			src, i := pattern(n, 1), uint64(0)
			for b.Loop() {
				i++
				fatal(b, m.PutNotify(1, 0, src, 1, 1))
				fatal(b, m.WaitCounter(1, i, 1))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/2, "ns/oneway")
			m.Close()
			endChild(b, cmd.Wait, c.Close)
		})
	}
}
