package space

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
)

// die makes random values from one seed, so that a failure can be replayed.
type die struct{ *rand.Rand }

func newDie(seed uint64) die { return die{rand.New(rand.NewPCG(seed, 1))} }

// seeds runs f with n seeds, each as a subtest that its seed names.
func seeds(t *testing.T, n int, f func(t *testing.T, d die)) {
	if testing.Short() {
		n = n/8 + 1
	}
	for seed := range uint64(n) {
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, newDie(seed)) }) {
			return
		}
	}
}

// space is a small space: a rectangle, or scattered rows.
func (d die) space(dim int) Space {
	lo, hi := make([]int64, dim), make([]int64, dim)
	for i := range dim {
		lo[i] = d.Int64N(7) - 3
		hi[i] = lo[i] + 1 + d.Int64N([]int64{60, 9, 6}[dim-1])
	}
	whole := Rect(lo, hi)
	if d.IntN(3) == 0 {
		return whole
	}
	var rows []Row
	for p := range whole.All() {
		if d.IntN(3) > 0 {
			rows = append(rows, Row{p, 1})
		}
	}
	return Points(dim, rows...)
}

// part is some points of s; often all of them, or a rectangle.
func (d die) part(s Space) Space {
	switch d.IntN(4) {
	case 0:
		return s
	case 1:
		return s.Intersect(d.space(s.Dim()))
	case 2:
		lo, hi := s.Bounds()
		for i := range s.Dim() {
			lo[i] += d.Int64N(2)
			hi[i] -= d.Int64N(2)
		}
		return s.Intersect(Rect(lo[:s.Dim()], hi[:s.Dim()]))
	}
	var rows []Row
	for p := range s.All() {
		if d.IntN(2) > 0 {
			rows = append(rows, Row{p, 1})
		}
	}
	return Points(s.Dim(), rows...)
}

var sizes = []Field{{"", 1, 1}, {"", 2, 2}, {"", 4, 4}, {"", 8, 8}, {"", 16, 8}, {"", 3, 1}, {"", 12, 4}, {"", 40, 8}}

func (d die) fields() []Field {
	fs := make([]Field, 1+d.IntN(4))
	for i := range fs {
		fs[i] = sizes[d.IntN(len(sizes))]
		fs[i].Name = fmt.Sprint("f", i)
	}
	return fs
}

func (d die) layout(t *testing.T, s Space, fields []Field) *Layout {
	t.Helper()
	order := d.Perm(s.Dim())
	make := []func(Space, []Field, ...int) (*Layout, error){AOS, SOA}[d.IntN(2)]
	l, err := make(s, fields, order...)
	if err == nil && d.IntN(3) == 0 {
		l, err = d.strided(l)
	}
	if err != nil {
		t.Fatalf("%v of %v: %v", fields, s, err)
	}
	return l
}

// strided is l with every other byte unused, and one dimension backwards.
func (d die) strided(l *Layout) (*Layout, error) {
	places := make([]Place, len(l.fields))
	back := l.space.Dim() - 1
	for f, p := range l.places {
		p.base *= 2
		for i := range p.stride {
			p.stride[i] *= 2
		}
		if n := l.extent(back); n > 0 {
			p.base += (n - 1) * p.stride[back]
			p.stride[back] *= -1
		}
		from := 0
		if !l.space.Dense() {
			from = back
		}
		places[f] = Place{p.base, p.stride[from:l.space.Dim()]}
	}
	return Strided(l.space, l.fields, places, 2*l.size)
}

// memory is random bytes for l.
func (d die) memory(l *Layout) []byte {
	b := make([]byte, l.Size()+8)
	for i := 0; i < len(b)-8; i += 8 {
		binary.LittleEndian.PutUint64(b[i:], d.Uint64())
	}
	return b[:l.Size()]
}

// pairs of fields of equal sizes, in any order.
func (d die) pairs(n int) []Pair {
	var ps []Pair
	if d.IntN(2) == 0 {
		for i := range n {
			ps = append(ps, Pair{i, i})
		}
		return ps
	}
	for _, i := range d.Perm(n)[:1+d.IntN(n)] {
		ps = append(ps, Pair{i, i})
	}
	return ps
}

// TestLeast: a layout without a size gets that of the memory up to the last byte of an element.
func TestLeast(t *testing.T) {
	for seed := range uint64(200) {
		d := newDie(seed)
		l, err := d.strided(d.layout(t, d.space(1+d.IntN(3)), d.fields()))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		want := int64(0)
		places := make([]Place, len(l.fields))
		for f, p := range l.places {
			from := 0
			if !l.space.Dense() {
				from = l.space.Dim() - 1
			}
			places[f] = Place{p.base, p.stride[from:l.space.Dim()]}
			for x := range l.space.All() {
				want = max(want, l.Offset(x, f)+l.fields[f].Size)
			}
		}
		least, err := Strided(l.space, l.fields, places, -1)
		if err != nil || least.Size() != want {
			t.Fatalf("seed %d: %v: %v, want %d", seed, least, err, want)
		}
	}
}
