package realm

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// stridedArgs describes an instance in a random layout: fields x of int64 and y of int32.
type stridedArgs struct {
	Seed     uint64
	Dim      int
	External bool
	Reply    int
}

// buffers are the memory of external instances, by number. Only tasks of their ranks look at them.
var buffers sync.Map

// shape is the space and the layout of a, and how many words of 8 bytes they need.
func (a stridedArgs) shape() (s Space, l Strided, words int64) {
	d := rand.New(rand.NewPCG(a.Seed, 9))
	lo, hi := make([]int64, a.Dim), make([]int64, a.Dim)
	for k := range lo {
		lo[k] = d.Int64N(4) - 2
		hi[k] = lo[k] + 1 + d.Int64N([]int64{400, 20, 7}[a.Dim-1])
	}
	if s = Rect(lo, hi); d.IntN(4) == 0 {
		s = s.Minus(Rect(lo, slices.Repeat([]int64{1}, a.Dim)))
	}
	dims, extent := d.Perm(a.Dim), func(k int) int64 { return hi[k] - lo[k] }
	if !s.Dense() || s.Count() == 0 {
		dims, extent = []int{0}, func(int) int64 { return s.Count() }
	}
	x, y := Place{Stride: make([]int64, len(dims))}, Place{Stride: make([]int64, len(dims))}
	x.Base = 8 * d.Int64N(3)
	step := int64(16)
	if y.Base = x.Base + 8; d.IntN(2) == 0 {
		y.Base, step = x.Base+4, 24
		x.Base += 8
	}
	end := step
	for _, k := range dims {
		step *= 1 + d.Int64N(2)
		x.Stride[k], y.Stride[k] = step, step
		length := max(0, extent(k)-1) * step
		end += length
		if d.IntN(3) == 0 {
			x.Base, y.Base = x.Base+length, y.Base+length
			x.Stride[k], y.Stride[k] = -step, -step
		}
		step += length
	}
	return s, Strided{x, y}, (end+32)/8 + 1
}

var makeStrided = Register("layout.make", func(c *Ctx, a stridedArgs) error {
	s, l, words := a.shape()
	var in Instance
	var err error
	var mem []int64
	x, y := FieldOf[int64]("x"), FieldOf[int32]("y")
	if a.External {
		mem = slices.Repeat([]int64{-1}, int(words))
		in, err = NewExternal(c, mem, s, l, x, y)
	} else {
		in, err = NewInstance(c, c.Runtime().Memory(System), s, l, x, y)
	}
	if err != nil {
		return err
	}
	vx, err := ViewOf[int64](in, "x")
	if err != nil {
		return err
	}
	vy, err := ViewOf[int32](in, "y")
	for p := range s.All() {
		*vx.AtPoint(p), *vy.AtPoint(p) = a.x(p), a.y(p)
	}
	buffers.Store(in.ID(), mem)
	reply(a.Reply, in.ID(), []int64{untouched(in.ID())})
	return err
})

// untouched is how many words of an external instance nobody has written.
func untouched(id InstanceID) (n int64) {
	mem, _ := buffers.Load(id)
	for _, x := range mem.([]int64) {
		if x == -1 {
			n++
		}
	}
	return n
}

func (a stridedArgs) x(p Point) int64 { return int64(a.Seed)<<32 + p[0]<<20 + p[1]<<10 + p[2] }

func (a stridedArgs) y(p Point) int32 { return int32(a.x(p)*3 + int64(a.Seed)) }

// readStrided tells both fields, point by point, and what untouched has.
var readStrided = Register("layout.read", func(c *Ctx, r readArgs) error {
	vx, err := ViewOf[int64](r.ID.On(c), "x")
	if err != nil {
		return err
	}
	vy, err := ViewOf[int32](r.ID.On(c), "y")
	var all []int64
	for p := range vx.in.layout.Space().All() {
		all = append(all, *vx.AtPoint(p), int64(*vy.AtPoint(p)))
	}
	reply(r.Reply, 0, append(all, untouched(r.ID)))
	return err
})

// at makes the instance on rank r.
func (a *stridedArgs) at(t *testing.T, rt *Runtime, r int) Instance {
	t.Helper()
	a.Reply = int(rand.Int64())
	if err := wait(t, rt, Spawn(rt, makeProcessor(r, CPU, 0), makeStrided, *a)); err != nil {
		failf(t, "%+v: %v", *a, err)
	}
	replies.mu.Lock()
	defer replies.mu.Unlock()
	return replies.id[a.Reply].On(rt)
}

// TestStrided copies between random layouts that the program gives, in own and in external memory, on all pairs of
// ranks, and compares with a copy point by point. Memory between the elements stays as it is.
func TestStrided(t *testing.T) {
	overWays(t, func(t *testing.T, rt *Runtime) {
		seed := uint64(0)
		for range 12 / rt.Size() / rt.Size() {
			eachPair(rt, func(dst, src int) {
				seed += 2
				dim := 1 + int(seed/2)%3
				a := stridedArgs{seed, dim, seed/2%2 == 0, 0}
				b := stridedArgs{seed + 1, dim, seed/2%4 < 2, 0}
				to, from := a.at(t, rt, dst), b.at(t, rt, src)
				read := readArgs{to.ID(), int(rand.Int64())}
				e := Spawn(rt, makeProcessor(dst, CPU, 0), readStrided, read, After(Copy(rt, to, from, Part{})))
				if err := wait(t, rt, e); err != nil {
					failf(t, "%+v to %+v: %v", b, a, err)
				}
				replies.mu.Lock()
				got, before := replies.x[read.Reply], replies.x[a.Reply][0]
				replies.mu.Unlock()
				there, _, _ := b.shape()
				s, _, _ := a.shape()
				i := 0
				for p := range s.All() {
					want := a
					if there.Has(p) {
						want = b
					}
					if got[i] != want.x(p) || got[i+1] != int64(want.y(p)) {
						failf(t, "%+v to %+v: point %v is %d, %d", b, a, p, got[i], got[i+1])
					}
					i += 2
				}
				if got[i] != before {
					failf(t, "%+v to %+v: %d words between elements, %d after the copy", b, a, before, got[i])
				}
				if err := wait(t, rt, rt.Merge(Destroy(rt, to), Destroy(rt, from))); err != nil {
					t.Error(err)
				}
			})
		}
	})
}

// TestExternal: an instance around memory of the program, as an array of structures of Go.
func TestExternal(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		type pair struct {
			N int32
			P float64
		}
		mem := []pair{{1, 1}, {2, 2}, {3, 3}}
		_, before := rt.MemoryUse(rt.Memory(System))
		in, err := NewExternal(rt, mem, Range(0, 3), AOS, FieldOf[int32]("n"), FieldOf[float64]("p"))
		if err != nil {
			t.Error(err)
			return
		}
		if _, used := rt.MemoryUse(rt.Memory(System)); used != before {
			t.Errorf("%d bytes of a memory for an external instance", used-before)
		}
		some := Range(1, 3)
		if err := wait(t, rt, Fill(rt, in, 1, 1.5, &some)); err != nil {
			t.Error(err)
		}
		if want := []pair{{1, 1}, {2, 1.5}, {3, 1.5}}; !slices.Equal(mem, want) {
			t.Errorf("%v, want %v", mem, want)
		}
		if err := wait(t, rt, Destroy(rt, in)); err != nil {
			t.Error(err)
		}
		if err := wait(t, rt, Fill(rt, in, 1, 2.5, nil)); !errors.Is(err, ErrPoisoned) || mem[0].P != 1 {
			t.Errorf("a fill after the end: %v, %v", err, mem)
		}
	})
}

// TestBadLayouts: what overlaps, is not aligned or lies outside of the memory is refused.
func TestBadLayouts(t *testing.T) {
	alone(t, 1, func(rt *Runtime) {
		x, mem, s := FieldOf[int64]("x"), make([]int32, 40), Grid(3, 4)
		one := func(base int64, stride ...int64) Strided { return Strided{{Base: base, Stride: stride}} }
		try := func(l Layout) error {
			_, err := NewExternal(rt, mem, s, l, x)
			return err
		}
		_, pointers := NewExternal(rt, []*int{nil}, Range(0, 1), SOA, x)
		_, off := NewExternal(rt, mem[1:], s, SOA, x)
		_, odd := NewExternal(rt, mem, s, SOA, FieldOf[*int]("x"))
		_, own := NewInstance(rt, rt.Memory(System), s, one(0, 32, 4), x)
		for name, c := range map[string]struct {
			err error
			ok  bool
		}{
			"rows":               {try(one(0, 32, 8)), true},
			"columns":            {try(one(0, 8, 24)), true},
			"backwards":          {try(one(64, -32, 8)), true},
			"gaps":               {try(one(8, 48, 8)), true},
			"overlapping rows":   {try(one(0, 24, 8)), false},
			"overlapping points": {try(one(0, 32, 4)), false},
			"own memory":         {own, false},
			"no alignment":       {try(one(4, 32, 8)), false},
			"stride":             {try(one(0, 36, 8)), false},
			"beyond":             {try(one(0, 72, 8)), false},
			"below":              {try(one(0, -32, 8)), false},
			"far beyond":         {try(one(0, 1<<60, 8)), false},
			"one stride":         {try(one(0, 32)), false},
			"two places":         {try(append(one(0, 32, 8), one(0, 32, 8)...)), false},
			"none":               {try(nil), false},
			"pointers":           {pointers, false},
			"a field":            {odd, false},
		} {
			if c.ok != (c.err == nil) || !c.ok && !errors.Is(c.err, ErrArgument) {
				t.Errorf("%s: %v", name, c.err)
			}
		}
		if off == nil || !errors.Is(off, ErrArgument) {
			t.Errorf("memory that is not aligned: %v", off)
		}
	})
}
