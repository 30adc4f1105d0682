package reduce

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/realm/internal/space"
)

func seeds(t *testing.T, n int, f func(t *testing.T, d *rand.Rand)) {
	if testing.Short() {
		n = n/8 + 1
	}
	for seed := range uint64(n) {
		if !t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rand.New(rand.NewPCG(seed, 2))) }) {
			return
		}
	}
}

// someSpace has up to 5000 points of one or two dimensions.
func someSpace(d *rand.Rand) space.Space {
	lo := d.Int64N(100) - 50
	switch d.IntN(4) {
	case 0:
		return space.Range(lo, lo+1+d.Int64N(5000))
	case 1:
		return space.Rect([]int64{lo, -2}, []int64{lo + 1 + d.Int64N(50), 1 + d.Int64N(40)})
	case 2:
		return space.Range(lo, lo+1+d.Int64N(70))
	}
	var list []int64
	for i := range 1 + d.Int64N(3000) {
		if d.IntN(3) > 0 {
			list = append(list, lo+i)
		}
	}
	return space.Indices(append(list, lo)...)
}

// field is the memory of a field of type L over more points than s has, in one of several layouts.
func field[L any](t *testing.T, d *rand.Rand, s space.Space) (*space.Layout, []byte) {
	t.Helper()
	lo, hi := s.Bounds()
	lo[0] -= d.Int64N(3)
	hi[s.Dim()-1] += d.Int64N(3)
	whole := space.Rect(lo[:s.Dim()], hi[:s.Dim()])
	if d.IntN(3) == 0 {
		whole = s
	}
	size := int64(unsafe.Sizeof(*new(L)))
	fields := []space.Field{{Name: "v", Size: size, Align: max(int64(unsafe.Alignof(*new(L))), size&-size)}}
	var l *space.Layout
	var err error
	if d.IntN(2) == 0 {
		l, err = space.SOA(whole, fields, d.Perm(s.Dim())...)
	} else {
		l, err = space.AOS(whole, append(fields, space.Field{Name: "other", Size: 8, Align: 8}))
	}
	if err != nil {
		t.Fatal(err)
	}
	mem := make([]L, (l.Size()+size-1)/size)
	b := bytesOf(mem)
	for i := range b {
		b[i] = byte(d.Uint32N(3)) // small numbers, if integers
	}
	return l, b
}

// instance is what a Fold and a List have in common.
type instance[L, R any] interface {
	Reduce(i int64, v R) error
	ReduceAt(x space.Point, v R) error
	ReduceAll(at []int64, v []R) error
	ReduceRow(i int64, v []R) error
	Apply(t *Target[L, R]) error
	Encoder() *Encoder[R]
	Reset()
}

// reductions makes random reductions into in, and returns them as numbers of points and values, in order.
func reductions[L, R any](t *testing.T, d *rand.Rand, in instance[L, R], s space.Space, value func() R) (at []int64,
	vs []R,
) {
	t.Helper()
	all := slices.Collect(s.All())
	hot := 1 + d.IntN(len(all))
	pick := func() int64 { return int64(d.IntN(hot)) }
	for range 1 + d.IntN(8) {
		first := len(at)
		var err error
		switch way := d.IntN(4); {
		case way == 0 && s.Dim() == 1:
			n := d.IntN(600)
			var is []int64
			for range n {
				k := pick()
				at, vs, is = append(at, k), append(vs, value()), append(is, all[k][0])
			}
			err = in.ReduceAll(is, vs[first:])
		case way == 1 && s.Dim() == 1:
			k := pick()
			n := int64(0)
			for k+n < int64(len(all)) && all[k+n][0] == all[k][0]+n && n < 2500 {
				at, vs = append(at, k+n), append(vs, value())
				n++
			}
			err = in.ReduceRow(all[k][0], vs[first:])
		case way == 2 && s.Dim() == 1:
			for range d.IntN(50) {
				k := pick()
				at, vs = append(at, k), append(vs, value())
				err = errors.Join(err, in.Reduce(all[k][0], vs[len(vs)-1]))
			}
		default:
			for range d.IntN(50) {
				k := pick()
				at, vs = append(at, k), append(vs, value())
				err = errors.Join(err, in.ReduceAt(all[k], vs[len(vs)-1]))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return at, vs
}

// apply applies in to mem, at once or by chunks.
func apply[L, R any](t *testing.T, d *rand.Rand, in instance[L, R], to *Target[L, R]) {
	t.Helper()
	if d.IntN(2) == 0 {
		if err := in.Apply(to); err != nil {
			t.Fatal(err)
		}
		return
	}
	least := minChunk(int(unsafe.Sizeof(*new(R))))
	e := in.Encoder()
	for {
		buf := make([]byte, least+d.IntN(3000))
		chunk := e.Next(buf)
		if len(chunk) == 0 {
			return
		}
		if len(chunk) > len(buf) {
			t.Fatalf("a chunk of %d bytes in a buffer of %d", len(chunk), len(buf))
		}
		if err := to.Replay(chunk); err != nil {
			t.Fatal(err)
		}
	}
}

// model applies each reduction to the datum itself.
func model[L, R any](op *Op[L, R], l *space.Layout, mem []byte, s space.Space, at []int64, vs []R) {
	all := slices.Collect(s.All())
	for k, n := range at {
		p := (*L)(unsafe.Pointer(&mem[l.Offset(all[n], 0)]))
		*p = op.Apply(*p, vs[k])
	}
}

// try compares instances of op with the model.
func try[L, R any](op *Op[L, R], value func(*rand.Rand) R) func(t *testing.T, d *rand.Rand) {
	return func(t *testing.T, d *rand.Rand) {
		s := someSpace(d)
		l, mem := field[L](t, d, s)
		want := bytes.Clone(mem)
		var in instance[L, R]
		var err error
		mode := Exclusive
		size := unsafe.Sizeof(*new(R))
		if d.IntN(2) == 0 || op.Fold == nil {
			in, err = NewList(op, s)
		} else {
			if d.IntN(2) == 0 && (size == 4 || size == 8) {
				mode = Atomic
			}
			in, err = NewFold(op, s, mode)
		}
		if err != nil {
			t.Fatal(err)
		}
		mode = Exclusive
		if size := unsafe.Sizeof(*new(L)); d.IntN(2) == 0 && (size == 4 || size == 8) {
			mode = Atomic
		}
		to, err := op.Onto(mem, l, 0, s, mode)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			at, vs := reductions(t, d, in, s, func() R { return value(d) })
			model(op, l, want, s, at, vs)
			apply(t, d, in, to)
			if !bytes.Equal(mem, want) {
				t.Fatalf("%s of %T, mode %d, over %v: other data than one by one", op.Name, in, mode, s)
			}
			in.Reset()
		}
	}
}

func small[T Real](d *rand.Rand) T { return T(d.IntN(7)) }

func builtins[T Integer](t *testing.T) {
	reals[T](t)
	for _, op := range []*Op[T, T]{And[T](), Or[T](), Xor[T]()} {
		t.Run(fmt.Sprintf("%s/%T", op.Name, T(0)), func(t *testing.T) { seeds(t, 25, try(op, small[T])) })
	}
}

func reals[T Real](t *testing.T) {
	for _, op := range []*Op[T, T]{Sum[T](), Min[T](), Max[T]()} {
		t.Run(fmt.Sprintf("%s/%T", op.Name, T(0)), func(t *testing.T) { seeds(t, 25, try(op, small[T])) })
	}
	one := func(d *rand.Rand) T { return T(1 + d.IntN(2)%2) }
	t.Run(fmt.Sprintf("prod/%T", T(0)), func(t *testing.T) { seeds(t, 25, try(Prod[T](), one)) })
}

type named int32

func TestBuiltins(t *testing.T) {
	builtins[uint8](t)
	builtins[int16](t)
	builtins[named](t)
	builtins[int64](t)
	builtins[uint64](t)
}

// mean has data of another type than its values, and no Fold.
type mean struct{ Sum, N int64 }

// TestOtherTypes has operators that are not built in.
func TestOtherTypes(t *testing.T) {
	log := &Op[mean, int32]{Name: "mean", Apply: func(l mean, r int32) mean { return mean{l.Sum + int64(r), l.N + 1} }}
	seeds(t, 100, try(log, small[int32]))
	wide := &Op[int64, int32]{
		Name: "wide", Apply: func(l int64, r int32) int64 { return l + int64(r) },
		Fold: func(a, b int32) int32 { return a + b }, Identity: new(int32),
	}
	seeds(t, 100, try(wide, small[int32]))
	ordered := &Op[int64, int64]{Name: "ordered", Apply: func(l, r int64) int64 { return l*31 + r }}
	seeds(t, 100, try(ordered, small[int64]))
	none := [3]uint16{1, 1, 1}
	bulky := &Op[[3]uint16, [3]uint16]{
		Name: "bulky", Identity: &none,
		Apply: func(l, r [3]uint16) [3]uint16 { return [3]uint16{l[0] * r[0], l[1] * r[1], l[2] * r[2]} },
		Fold:  func(l, r [3]uint16) [3]uint16 { return [3]uint16{l[0] * r[0], l[1] * r[1], l[2] * r[2]} },
	}
	seeds(t, 100, try(bulky, func(d *rand.Rand) [3]uint16 { return [3]uint16{uint16(d.Uint32()), 3, 1} }))
}

// TestFloats: data are floats that are whole numbers, so that sums are exact.
func TestFloats(t *testing.T) {
	for _, op := range []*Op[float64, float64]{Sum[float64](), Min[float64](), Max[float64]()} {
		seeds(t, 40, func(t *testing.T, d *rand.Rand) {
			s := someSpace(d)
			f, _ := NewFold(op, s, Mode(d.IntN(2)))
			l, _ := NewList(op, s)
			seed := d.Uint64()
			again := func() *rand.Rand { return rand.New(rand.NewPCG(seed, 3)) }
			d1, d2 := again(), again()
			value := func(d *rand.Rand) float64 { return float64(d.IntN(200) - 100) }
			reductions(t, d1, instance[float64, float64](f), s, func() float64 { return value(d1) })
			reductions(t, d2, instance[float64, float64](l), s, func() float64 { return value(d2) })
			lay, err := space.SOA(s, []space.Field{{Name: "v", Size: 8, Align: 8}})
			if err != nil {
				t.Fatal(err)
			}
			a, b := make([]float64, lay.Size()/8), make([]float64, lay.Size()/8)
			for i := range a {
				a[i] = float64(d.IntN(9))
			}
			copy(b, a)
			ta, _ := op.Onto(bytesOf(a), lay, 0, s, Exclusive)
			tb, _ := op.Onto(bytesOf(b), lay, 0, s, Atomic)
			apply(t, d, instance[float64, float64](f), ta)
			apply(t, d, instance[float64, float64](l), tb)
			if !slices.Equal(a, b) {
				t.Fatalf("%s over %v: a fold and a list differ", op.Name, s)
			}
		})
	}
	if v := *Min[float32]().Identity; v < 3e38 || *Max[float64]().Identity > -1e308 {
		t.Error("the identity of floats is not infinite")
	}
	if *Min[int8]().Identity != 127 || *Max[int8]().Identity != -128 || *Max[uint8]().Identity != 0 ||
		*Min[uint16]().Identity != 65535 || *Max[int64]().Identity != -1<<63 {
		t.Error("the identity of integers is not their limit")
	}
}

func TestErrors(t *testing.T) {
	row, sum := space.Range(10, 20), Sum[int64]()
	f, _ := NewFold(sum, row, Exclusive)
	l, _ := NewList(sum, row)
	for _, in := range []instance[int64, int64]{f, l} {
		for name, err := range map[string]error{
			"below": in.Reduce(9, 1), "above": in.Reduce(20, 1), "point": in.ReduceAt(space.Point{10, 1}, 1),
			"row": in.ReduceRow(15, make([]int64, 6)), "one of all": in.ReduceAll([]int64{10, 5}, []int64{1, 1}),
			"lengths": in.ReduceAll([]int64{10}, nil),
		} {
			if !errors.Is(err, errIndex) {
				t.Errorf("%T: %s: %v", in, name, err)
			}
		}
	}
	if v, ok := f.Value(10); v != 1 || !ok || f.isTouched() != 1 || l.Len() != 1 {
		t.Errorf("what preceded the bad index: %d, %v; %d logged", v, ok, l.Len())
	}
	if _, ok := f.Value(11); ok {
		t.Error("a value that nobody has reduced")
	}
	if _, ok := f.Value(9); ok {
		t.Error("a value of no point")
	}
	holes, _ := NewList(sum, space.Indices(1, 2, 5))
	if err := holes.ReduceRow(1, make([]int64, 5)); !errors.Is(err, errIndex) {
		t.Errorf("a row across a hole: %v", err)
	}
	bare := &Op[int64, int64]{Name: "bare", Apply: func(a, b int64) int64 { return a }}
	_, noFold := NewFold(bare, row, Exclusive)
	_, noApply := NewList(&Op[int64, int64]{}, row)
	_, noTarget := (&Op[int64, int64]{}).Onto(nil, nil, 0, row, Exclusive)
	for name, err := range map[string]error{"fold": noFold, "list": noApply, "target": noTarget} {
		if !errors.Is(err, errOp) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewFold(Sum[int16](), row, Atomic); !errors.Is(err, errType) {
		t.Error(err)
	}
	if _, err := NewFold(sum, space.Grid(), Exclusive); !errors.Is(err, space.ErrSpace) {
		t.Error(err)
	}
	if err := l.Join(l); !errors.Is(err, errType) {
		t.Error(err)
	}
}

func TestBadTargets(t *testing.T) {
	row := space.Range(10, 20)
	lay, _ := space.SOA(row, []space.Field{{Name: "a", Size: 8, Align: 4}, {Name: "b", Size: 8, Align: 8}})
	buf := make([]uint64, lay.Size()/8+1)
	mem := bytesOf(buf)
	onto := func(mem []byte, f int, s space.Space, mode Mode) error {
		_, err := Sum[int64]().Onto(mem, lay, f, s, mode)
		return err
	}
	_, size := Sum[int32]().Onto(mem, lay, 1, row, Exclusive)
	_, atomic := (&Op[[2]int32, int32]{Apply: func(l [2]int32, r int32) [2]int32 { return l }}).Onto(mem, lay, 0,
		row, Atomic)
	for name, c := range map[string]struct{ err, want error }{
		"size": {size, errType}, "alignment of the field": {onto(mem, 0, row, Exclusive), errType},
		"alignment for atomics": {atomic, errType},
		"short":                 {onto(mem[:lay.Size()-1], 1, row, Exclusive), errType},
		"alignment":             {onto(mem[4:], 1, row, Exclusive), errType},
		"field":                 {onto(mem, 2, row, Exclusive), space.ErrFields},
		"points":                {onto(mem, 1, space.Range(0, 11), Exclusive), space.ErrPoints},
		"space":                 {onto(mem, 1, space.Grid(), Exclusive), space.ErrSpace},
		"good":                  {onto(mem, 1, row, Atomic), nil},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	sum := Sum[int64]()
	to, _ := sum.Onto(mem, lay, 1, row, Exclusive)
	for _, in := range []func() error{
		func() error { f, _ := NewFold(Sum[int64](), row, Exclusive); return f.Apply(to) },
		func() error { f, _ := NewList(sum, space.Range(10, 19)); return f.Apply(to) },
	} {
		if err := in(); !errors.Is(err, errType) {
			t.Errorf("an instance of something else: %v", err)
		}
	}
}
