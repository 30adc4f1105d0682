package dtype

import (
	"fmt"
	"testing"
	"unsafe"
)

// BenchmarkVector packs and unpacks doubles at a stride: by hand, and by the engine.
func BenchmarkVector(b *testing.B) {
	for _, c := range []struct{ n, block, stride int }{
		{8192, 1, 2},
		{4096, 2, 4},
		{2048, 3, 6},
		{2048, 4, 8},
		{1024, 8, 16},
		{128, 64, 128},
		{8192, 1, 16},
		{1024, 1, 1024},
		{64, 1, 2},
		{8, 1, 2},
	} {
		mem, buf := make([]float64, c.n*c.stride), make([]float64, c.n*c.block)
		bytes := unsafe.Slice((*byte)(unsafe.Pointer(&buf[0])), 8*len(buf))
		v, err := Vector(int64(c.n), int64(c.block), int64(c.stride), Named(Double))
		if err != nil {
			b.Fatal(err)
		}
		var cur Cursor
		v.Over(&cur, unsafe.Pointer(&mem[0]), 1)
		name := fmt.Sprintf("n=%d/block=%d/stride=%d/", c.n, c.block, c.stride)
		run := func(how string, f func()) {
			b.Run(name+how, func(b *testing.B) {
				b.SetBytes(int64(len(bytes)))
				for b.Loop() {
					f()
				}
			})
		}
		run("pack/hand", func() { packByHand(buf, mem, c.n, c.block, c.stride) })
		run("pack/engine", func() { cur.Pack(bytes, 0) })
		run("unpack/hand", func() { unpackByHand(mem, buf, c.n, c.block, c.stride) })
		run("unpack/engine", func() { cur.Unpack(bytes, 0) })
	}
}

// packByHand is what a program writes that packs its vector itself: an inner loop for short blocks, else copies.
func packByHand(buf, mem []float64, n, block, stride int) {
	if block == 1 {
		for i := range n {
			buf[i] = mem[i*stride]
		}
		return
	}
	for i := range n {
		if block > 8 {
			copy(buf[i*block:(i+1)*block], mem[i*stride:])
			continue
		}
		for k := range block {
			buf[i*block+k] = mem[i*stride+k]
		}
	}
}

func unpackByHand(mem, buf []float64, n, block, stride int) {
	if block == 1 {
		for i := range n {
			mem[i*stride] = buf[i]
		}
		return
	}
	for i := range n {
		if block > 8 {
			copy(mem[i*stride:], buf[i*block:(i+1)*block])
			continue
		}
		for k := range block {
			mem[i*stride+k] = buf[i*block+k]
		}
	}
}

// BenchmarkTypes packs 64 KiB of other types.
func BenchmarkTypes(b *testing.B) {
	for _, recipe := range []string{
		"struct 2 1 0 INT 1 8 DOUBLE", "iblock 8 1 0 3 4 9 11 17 20 31 DOUBLE", "indexed 4 1 0 3 4 2 9 5 20 DOUBLE",
		"subarray 3 C 16 16 16 8 8 8 4 4 4 DOUBLE", "vector 16 1 16 struct 2 1 0 INT 1 8 DOUBLE", "DOUBLE_INT",
	} {
		typ, m, err := read(recipe)
		if err != nil {
			b.Fatal(err)
		}
		count := max(65536/typ.Size(), 1)
		mem := newMemory(m, count)
		buf := make([]byte, count*typ.Size())
		var c Cursor
		typ.Over(&c, mem.base(), count)
		b.Run(recipe, func(b *testing.B) {
			b.SetBytes(int64(len(buf)))
			for b.Loop() {
				c.Pack(buf, 0)
			}
		})
	}
}

// BenchmarkConstruct makes, commits and uses a small type once.
func BenchmarkConstruct(b *testing.B) {
	mem := make([]float64, 64)
	buf := make([]byte, 64)
	for b.Loop() {
		v, err := Vector(8, 1, 8, Named(Double))
		if err != nil {
			b.Fatal(err)
		}
		v.Commit()
		var c Cursor
		v.Over(&c, unsafe.Pointer(&mem[0]), 1)
		c.Pack(buf, 0)
	}
}

// BenchmarkColumns packs all columns of a square matrix of doubles, one after the other.
func BenchmarkColumns(b *testing.B) {
	for _, n := range []int64{64, 500, 512, 1024} {
		column, err := Vector(n, 1, n, Named(Double))
		if err == nil {
			column, err = Resized(0, 8, column)
		}
		if err != nil {
			b.Fatal(err)
		}
		mem, buf := make([]float64, n*n), make([]byte, 8*n*n)
		var c Cursor
		column.Over(&c, unsafe.Pointer(&mem[0]), n)
		for how, f := range map[string]func(){
			"pack":   func() { c.Pack(buf, 0) },
			"unpack": func() { c.Unpack(buf, 0) },
		} {
			b.Run(fmt.Sprintf("n=%d/%s", n, how), func(b *testing.B) {
				b.SetBytes(8 * n * n)
				for b.Loop() {
					f()
				}
			})
		}
	}
}
