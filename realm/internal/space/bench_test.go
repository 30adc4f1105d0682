package space

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"
)

const benchPoints = 1 << 14 // 128 KiB of 8-byte elements: in the second cache

// stride2 is a layout of n 8-byte elements, every step-th.
func stride2(b *testing.B, n, step int64) *Layout {
	l, err := Strided(Range(0, n), []Field{{"v", 8, 8}}, []Place{{0, []int64{8 * step}}}, 8*step*n)
	if err != nil {
		b.Fatal(err)
	}
	return l
}

func benchCopy(b *testing.B, p *Plan, err error, dst, src *Layout) {
	if err != nil {
		b.Fatal(err)
	}
	c, err := p.Over(make([]byte, dst.Size()), make([]byte, src.Size()))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(p.Size())
	for b.Loop() {
		c.Copy(0, p.Size())
	}
}

// BenchmarkCopy compares plans with loops written by hand.
func BenchmarkCopy(b *testing.B) {
	for _, c := range []struct {
		name     string
		dst, src int64
	}{{"contiguous", 1, 1}, {"strided", 1, 4}, {"both", 2, 4}} {
		dst, src := stride2(b, benchPoints, c.dst), stride2(b, benchPoints, c.src)
		b.Run(c.name+"/plan", func(b *testing.B) {
			p, err := NewPlan(dst, src, Range(0, benchPoints), Pair{})
			benchCopy(b, p, err, dst, src)
		})
		b.Run(c.name+"/hand", func(b *testing.B) {
			d, s := make([]uint64, dst.Size()/8), make([]uint64, src.Size()/8)
			b.SetBytes(8 * benchPoints)
			for b.Loop() {
				switch {
				case c.src == 1:
					copy(d, s)
				default:
					for i, k := 0, 0; k < len(d); i, k = i+int(c.src), k+int(c.dst) {
						d[k] = s[i]
					}
				}
			}
		})
	}
}

func BenchmarkGather(b *testing.B) {
	l := stride2(b, benchPoints, 1)
	index := make([]int64, benchPoints)
	for k := range index {
		index[k] = rand.Int64N(benchPoints)
	}
	b.Run("plan", func(b *testing.B) {
		p, err := Gather(l, l, Range(0, benchPoints), Line(index), Pair{})
		benchCopy(b, p, err, l, l)
	})
	b.Run("hand", func(b *testing.B) {
		d, s := make([]uint64, benchPoints), make([]uint64, benchPoints)
		b.SetBytes(8 * benchPoints)
		for b.Loop() {
			for k, i := range index {
				d[k] = s[i]
			}
		}
	})
}

// BenchmarkPack packs 4 KiB pieces, as a transfer does.
func BenchmarkPack(b *testing.B) {
	src := stride2(b, benchPoints, 4)
	flat := stride2(b, benchPoints, 1)
	p, err := NewPlan(flat, src, Range(0, benchPoints), Pair{})
	if err != nil {
		b.Fatal(err)
	}
	c, _ := p.Over(nil, make([]byte, src.Size()))
	for _, size := range []int{64, 4096} {
		b.Run(fmt.Sprint("piece=", size), func(b *testing.B) {
			piece := make([]byte, size)
			b.SetBytes(p.Size())
			for b.Loop() {
				for off := 0; off < int(p.Size()); off += size {
					c.Pack(piece, off)
				}
			}
		})
	}
}

// BenchmarkSparse copies rows of few points.
func BenchmarkSparse(b *testing.B) {
	for _, n := range []int64{1, 8} {
		var rows []Row
		for i := int64(0); i < benchPoints; i += n {
			rows = append(rows, Row{Point{3 * i}, n})
		}
		holes := Points(1, rows...)
		b.Run(fmt.Sprint("row=", n), func(b *testing.B) {
			dst, _ := AOS(holes, []Field{{"v", int64(unsafe.Sizeof(uint64(0))), 8}})
			src := stride2(b, 3*benchPoints, 1)
			p, err := NewPlan(dst, src, holes, Pair{})
			benchCopy(b, p, err, dst, src)
		})
	}
}

func BenchmarkFill(b *testing.B) {
	for _, step := range []int64{1, 4} {
		b.Run(fmt.Sprint("step=", step), func(b *testing.B) {
			l := stride2(b, benchPoints, step)
			f, err := NewFilling(l, l.Space(), 0, []byte("12345678"), make([]byte, l.Size()))
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(f.Size())
			for b.Loop() {
				f.Fill(0, f.Size())
			}
		})
	}
}
