package space

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func TestWire(t *testing.T) {
	seeds(t, 400, func(t *testing.T, d die) {
		l := d.layout(t, d.space(1+d.IntN(3)), d.fields())
		b := append(AppendSpace(nil, l.space), 77)
		s, rest, err := DecodeSpace(b)
		if err != nil || !s.Equal(l.space) || len(rest) != 1 {
			t.Fatalf("%v: %v, %v, %d bytes left", l.space, s, err, len(rest))
		}
		b = append(l.Append(nil), 77)
		got, rest, err := DecodeLayout(b)
		if err != nil || len(rest) != 1 || got.Size() != l.Size() || got.Align() != l.Align() ||
			!slices.Equal(got.fields, l.fields) || !slices.Equal(got.places, l.places) {
			t.Fatalf("%v: %v, %d bytes left", l.space, err, len(rest))
		}
		for n := range len(b) - 1 {
			if _, _, err := DecodeLayout(b[:n]); !errors.Is(err, errWire) {
				t.Fatalf("%d of %d bytes: %v", n, len(b)-1, err)
			}
		}
	})
}

// hostile decodes b as everything, and uses what comes out.
func hostile(t *testing.T, b []byte) {
	l, rest, err := DecodeLayout(b)
	if err != nil {
		if s, _, err := DecodeSpace(b); err == nil {
			if again, _, err := DecodeSpace(AppendSpace(nil, s)); err != nil || !again.Equal(s) {
				t.Fatalf("%v became %v: %v", s, again, err)
			}
		}
		return
	}
	if l.Size() > 1<<20 {
		return
	}
	mem := make([]byte, l.Size(), l.Size()+1)
	for _, index := range []List{{}, Line([]int64{0}), Line([]int64{1, 2}), {2, []int64{0, 1}}, {3, make([]int64, 6)}} {
		p, _, err := l.Receive(rest, index)
		if err != nil || p.Size() > 1<<22 {
			continue
		}
		for r := range p.eachRun() {
			for k := range r.Count {
				off := r.Dst + k*r.DstStep
				if r.List != nil {
					off = r.Dst + r.List[k]*r.DstStep
				}
				if off < 0 || off+r.Len > l.Size() {
					t.Fatalf("bytes %d to %d of %d", off, off+r.Len, l.Size())
				}
			}
		}
		c, err := p.Over(mem, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Unpack(make([]byte, p.Size()), 0)
	}
}

// TestHostile decodes what has been encoded, with some bytes changed.
func TestHostile(t *testing.T) {
	seeds(t, 300, func(t *testing.T, d die) {
		j := d.job(t, d.IntN(3))
		b := j.plan.AppendStream(j.dst.Append(nil))
		for range 30 {
			c := bytes.Clone(b)
			for range 1 + d.IntN(3) {
				c[d.IntN(len(c))] ^= 1 << d.IntN(8)
			}
			hostile(t, c)
		}
	})
}

func FuzzDecode(f *testing.F) {
	for seed := range uint64(20) {
		d := newDie(seed)
		s := d.space(1 + d.IntN(3))
		l, err := AOS(s, xyz)
		if err != nil {
			f.Fatal(err)
		}
		p, err := NewPlan(l, l, d.part(s), Pair{1, 1})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.AppendStream(l.Append(nil)))
	}
	f.Fuzz(func(t *testing.T, b []byte) { hostile(t, b) })
}

// TestHostileSpaces: encodings that cannot be.
func TestHostileSpaces(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty": {}, "dimension 0": {0, 0}, "dimension 4": {0, 4}, "form": {2, 1, 0, 1},
		"many rows":      {1, 1, 0xff, 0xff, 0x7f},
		"touching rows":  {1, 1, 2, 2, 3, 6, 1},
		"rows backwards": {1, 1, 2, 20, 3, 1, 1},
		"empty row":      {1, 1, 1, 2, 0},
		"far":            {0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1},
	} {
		if s, _, err := DecodeSpace(b); !errors.Is(err, errWire) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	n := testing.AllocsPerRun(10, func() { _, _, _ = DecodeSpace([]byte{1, 1, 0xff, 0xff, 0x7f, 1, 1, 1}) })
	if n > 20 {
		t.Errorf("%v allocations", n)
	}
}
