package space

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// TestFillShortRows: where values of a row lie together, each gets the value, and no other byte changes.
func TestFillShortRows(t *testing.T) {
	for _, size := range []int64{1, 2, 4, 8} {
		for width := int64(1); width <= 4; width++ {
			l, err := SOA(Grid(5, 6), []Field{{Name: "v", Size: size, Align: size}})
			if err != nil {
				t.Fatal(err)
			}
			value := binary.LittleEndian.AppendUint64(nil, 0x8877665544332211)[:size]
			part := Rect([]int64{1, 1}, []int64{4, 1 + width})
			mem, want := make([]byte, l.Size()), make([]byte, l.Size())
			for p := range part.All() {
				copy(want[l.Offset(p, 0):], value)
			}
			f, err := NewFilling(l, part, 0, value, mem)
			if err != nil {
				t.Fatal(err)
			}
			if f.Fill(0, f.Size()); !bytes.Equal(mem, want) {
				t.Errorf("rows of %d values of %d bytes: %v, want %v", width, size, mem, want)
			}
		}
	}
}

// TestCopyFromLarger: a whole array of structures, or a field of it, is a part of a larger one.
func TestCopyFromLarger(t *testing.T) {
	fields := []Field{{Name: "p", Size: 4, Align: 4}, {Name: "q", Size: 4, Align: 4}, {Name: "r", Size: 8, Align: 8}}
	small, large := Rect([]int64{2, 3}, []int64{5, 6}), Rect([]int64{0, 0}, []int64{7, 9})
	for _, to := range []Space{small, large} {
		for _, pairs := range [][]Pair{{{Dst: 0, Src: 0}}, {{Dst: 2, Src: 2}}, {{Dst: 0, Src: 0}, {Dst: 1, Src: 1}}} {
			dst, err := AOS(to, fields)
			if err != nil {
				t.Fatal(err)
			}
			src, err := AOS(small.unionWith(large), fields)
			if to.Count() == large.Count() {
				src, err = AOS(small, fields)
			}
			if err != nil {
				t.Fatal(err)
			}
			p, err := NewPlan(dst, src, small, pairs...)
			if err != nil {
				t.Fatal(err)
			}
			s, d, want := make([]byte, src.Size()), make([]byte, dst.Size()), make([]byte, dst.Size())
			for i := range s {
				s[i] = byte(i*7 + 1)
			}
			var points []Point
			for x := range small.All() {
				points = append(points, x)
			}
			copyNaive(dst, src, points, points, pairs, want, s)
			c, err := p.Over(d, s)
			if err != nil {
				t.Fatal(err)
			}
			if c.Copy(0, p.Size()); !bytes.Equal(d, want) {
				t.Errorf("%v of %v into %v: %v, want %v", pairs, src.Space(), dst.Space(), d, want)
			}
		}
	}
}

// TestStridesTouch: elements of a field may touch, but not overlap, not even by one byte.
func TestStridesTouch(t *testing.T) {
	for stride := int64(1); stride <= 4; stride++ {
		for _, s := range []int64{stride, -stride} {
			base := max(0, -s*7)
			_, err := Strided(Range(0, 8), []Field{{Name: "v", Size: 3, Align: 1}}, []Place{{Base: base, Stride: []int64{s}}}, -1)
			if (err == nil) != (stride >= 3) {
				t.Errorf("elements of 3 bytes every %d bytes: %v", s, err)
			}
		}
	}
}

// TestArraysAtLines: each array of a structure of arrays begins at a cache line.
func TestArraysAtLines(t *testing.T) {
	l, err := SOA(Range(0, 5), []Field{{Name: "a", Size: 1, Align: 1}, {Name: "b", Size: 2, Align: 2}, {Name: "c", Size: 8, Align: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for f := range 3 {
		if off := l.Offset(Point{}, f); off%64 != 0 {
			t.Errorf("field %d begins at byte %d", f, off)
		}
	}
}

// TestStreamOfScatter: a stream that is not in rows cannot be of a scatter.
func TestStreamOfScatter(t *testing.T) {
	l, err := SOA(Range(0, 8), []Field{{Name: "v", Size: 4, Align: 4}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(l, l, l.Space(), Pair{})
	if err != nil {
		t.Fatal(err)
	}
	b := p.AppendStream(nil)
	if _, _, err := l.Receive(b, List{}); err != nil {
		t.Error(err)
	}
	list := Line([]int64{7, 6, 5, 4, 3, 2, 1, 0})
	if _, _, err := l.Receive(b, list); err == nil {
		t.Error("a dense stream with a list is taken")
	}
}
