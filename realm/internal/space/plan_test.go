package space

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// copyNaive copies point by point: the model of a plan.
func copyNaive(dst, src *Layout, points []Point, from []Point, pairs []Pair, d, s []byte) {
	for k, p := range points {
		for _, f := range pairs {
			n := dst.fields[f.Dst].Size
			copy(d[dst.Offset(p, f.Dst):][:n], s[src.Offset(from[k], f.Src):][:n])
		}
	}
}

// elements are the bytes of all elements of l in mem, without padding.
func elements(l *Layout, mem []byte) (all []byte) {
	for p := range l.space.All() {
		for f, x := range l.fields {
			all = append(all, mem[l.Offset(p, f):][:x.Size]...)
		}
	}
	return all
}

// pieces calls f for pieces of n bytes, in random order.
func (d die) pieces(n int, f func(off, end int)) {
	var cuts []int
	for at := 0; at < n; {
		cuts = append(cuts, at)
		at += 1 + d.IntN([]int{3, 20, 500}[d.IntN(3)])
	}
	ends := append(slices.Clone(cuts), n)[1:]
	if len(cuts) == 0 {
		return
	}
	for _, k := range d.Perm(len(cuts)) {
		f(cuts[k], ends[k])
	}
}

// job is a copy and what it must give.
type job struct {
	dst, src *Layout
	plan     *Plan
	d, s     []byte
	want     []byte // elements of the destination
	list     List
}

// job is a random copy, gather (kind 1) or scatter (kind 2).
func (d die) job(t *testing.T, kind int) (j job) {
	dim := 1 + d.IntN(3)
	fields := d.fields()
	pairs := d.pairs(len(fields))
	var points, other Space
	one := d.space(1 + d.IntN(MaxDim))
	if kind == 0 || one.Count() == 0 {
		points = d.part(d.space(dim))
		j.dst = d.layout(t, points.unionWith(d.space(dim)), fields)
		j.src = d.layout(t, points.unionWith(d.space(dim)), fields)
		kind = 0
	} else {
		other = d.space(dim)
		points = d.part(other)
		j.dst, j.src = d.layout(t, other, fields), d.layout(t, one, fields)
		if kind == 2 {
			j.dst, j.src = j.src, j.dst
		}
	}
	j.d, j.s = d.memory(j.dst), d.memory(j.src)
	to := slices.Collect(points.All())
	from := slices.Clone(to)
	var err error
	switch kind {
	case 0:
		j.plan, err = NewPlan(j.dst, j.src, points, pairs...)
	case 1:
		from, j.list = d.choose(one, len(to), true)
		j.plan, err = Gather(j.dst, j.src, points, j.list, pairs...)
	case 2:
		if int64(len(to)) > one.Count() { // each point at most once
			points = Points(dim, Row{to[0], 1})
			to, from = to[:1], from[:1]
		}
		to, j.list = d.choose(one, len(to), false)
		j.plan, err = Scatter(j.dst, j.src, points, j.list, pairs...)
	}
	if err != nil {
		t.Fatalf("%v to %v, points %v: %v", j.src.space, j.dst.space, points, err)
	}
	want := bytes.Clone(j.d)
	copyNaive(j.dst, j.src, to, from, pairs, want, j.s)
	j.want = elements(j.dst, want)
	return j
}

// choose picks n points of s.
func (d die) choose(s Space, n int, again bool) (ps []Point, list List) {
	list.Dim = s.Dim() + d.IntN(MaxDim+1-s.Dim())
	all := slices.Collect(s.All())
	order := d.Perm(len(all))
	for k := range n {
		i := order[k%len(order)]
		if again {
			i = d.IntN(len(all))
		}
		ps, list.At = append(ps, all[i]), append(list.At, all[i][:list.Dim]...)
	}
	return ps, list
}

// run does the job in three ways, and fails if one gives other elements.
func (j job) run(t *testing.T, d die) {
	t.Helper()
	for way, do := range []func(mem []byte){
		func(mem []byte) {
			c, _ := j.plan.Over(mem, j.s)
			c.Copy(0, j.plan.Size())
		},
		func(mem []byte) {
			c, _ := j.plan.Over(mem, j.s)
			d.pieces(int(j.plan.Size()), func(off, end int) { c.Copy(int64(off), int64(end-off)) })
		},
		func(mem []byte) {
			from, err := j.plan.Over(nil, j.s)
			if err != nil {
				t.Fatal(err)
			}
			stream := make([]byte, j.plan.Size())
			d.pieces(len(stream), func(off, end int) { from.Pack(stream[off:end], off) })
			there, rest, err := j.dst.Receive(j.plan.AppendStream(nil), j.scattered())
			if err != nil || len(rest) > 0 || there.Size() != j.plan.Size() {
				t.Fatalf("receive: %v, %d bytes left", err, len(rest))
			}
			to, err := there.Over(mem, nil)
			if err != nil {
				t.Fatal(err)
			}
			d.pieces(len(stream), func(off, end int) { to.Unpack(stream[off:end], off) })
		},
	} {
		mem := bytes.Clone(j.d)
		do(mem)
		if !bytes.Equal(elements(j.dst, mem), j.want) {
			t.Fatalf("way %d: %v to %v: other bytes than point by point", way, j.src.space, j.dst.space)
		}
	}
}

func (j job) scattered() List {
	if j.plan.dst.listed {
		return j.list
	}
	return List{}
}

func TestPlans(t *testing.T) {
	seeds(t, 1500, func(t *testing.T, d die) { d.job(t, 0).run(t, d) })
}

func TestGatherScatter(t *testing.T) {
	seeds(t, 800, func(t *testing.T, d die) { d.job(t, 1+d.IntN(2)).run(t, d) })
}

func FuzzPlan(f *testing.F) {
	f.Add(uint64(1), byte(0))
	f.Add(uint64(2), byte(1))
	f.Add(uint64(3), byte(2))
	f.Fuzz(func(t *testing.T, seed uint64, kind byte) {
		d := newDie(seed)
		d.job(t, int(kind%3)).run(t, d)
	})
}

func TestFilling(t *testing.T) {
	seeds(t, 500, func(t *testing.T, d die) {
		s := d.space(1 + d.IntN(3))
		l := d.layout(t, s, d.fields())
		points, f := d.part(s), d.IntN(len(l.fields))
		mem := d.memory(l)
		value := make([]byte, l.fields[f].Size)
		for i := range value {
			value[i] = byte(d.Uint32())
		}
		want := bytes.Clone(mem)
		for p := range points.All() {
			copy(want[l.Offset(p, f):], value)
		}
		fill, err := NewFilling(l, points, f, value, mem)
		if err != nil {
			t.Fatal(err)
		}
		if d.IntN(2) == 0 {
			fill.Fill(0, fill.Size())
		} else {
			d.pieces(int(fill.Size()), func(off, end int) { fill.Fill(int64(off), int64(end-off)) })
		}
		if !bytes.Equal(mem, want) {
			t.Fatalf("%v in %v: other bytes than point by point", points, s)
		}
	})
}

// TestCoalesced: what lies in one piece on both sides is one run.
func TestCoalesced(t *testing.T) {
	all := []Pair{{0, 0}, {1, 1}, {2, 2}}
	grid, holes := Grid(4, 5, 6), Indices(1, 2, 3, 7, 8, 20)
	aos := func(s Space, order ...int) *Layout { l, _ := AOS(s, xyz, order...); return l }
	soa := func(s Space, order ...int) *Layout { l, _ := SOA(s, xyz, order...); return l }
	part := Rect([]int64{1, 1, 0}, []int64{3, 3, 6})
	for name, c := range map[string]struct {
		dst, src *Layout
		points   Space
		pairs    []Pair
		runs     int
	}{
		"equal structures":              {aos(grid), aos(grid), grid, all, 1},
		"equal column-major":            {aos(grid, 2, 1, 0), aos(grid, 2, 1, 0), grid, all, 1},
		"equal arrays":                  {soa(grid), soa(grid), grid, all, 3},
		"one field of structures":       {aos(grid), aos(grid), grid, all[1:2], 1},
		"structures to arrays":          {soa(grid), aos(grid), grid, all, 3},
		"whole rows of a part, strided": {soa(grid), soa(grid), part, all[:1], 1},
		"sparse, equal":                 {aos(holes), aos(holes), holes, all, 1},
		"sparse into dense":             {aos(Range(0, 30)), aos(holes), holes, all, 3},
		"dense into sparse":             {soa(holes), soa(Range(0, 30)), holes, all[:1], 3},
		"planes of equal full planes":   {soa(Grid(9, 5, 6)), soa(grid), grid, all[:1], 1},
	} {
		p, err := NewPlan(c.dst, c.src, c.points, c.pairs...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if runs := slices.Collect(p.eachRun()); len(runs) != c.runs {
			t.Errorf("%s: %d runs, want %d: %v", name, len(runs), c.runs, runs)
		}
	}
}

func TestBadPlans(t *testing.T) {
	row, grid := Range(0, 10), Grid(4, 4)
	l, _ := AOS(row, xyz)
	sparse, _ := AOS(Indices(1, 3), xyz)
	square, _ := SOA(grid, xyz)
	plan := func(d, s *Layout, points Space, ps ...Pair) error { _, err := NewPlan(d, s, points, ps...); return err }
	gather := func(d, s *Layout, points Space, list ...int64) error {
		_, err := Gather(d, s, points, Line(list), Pair{})
		return err
	}
	scatter := func(d, s *Layout, points Space, list ...int64) error {
		_, err := Scatter(d, s, points, Line(list), Pair{})
		return err
	}
	for name, c := range map[string]struct{ err, want error }{
		"no fields":              {plan(l, l, row), ErrFields},
		"field":                  {plan(l, l, row, Pair{3, 0}), ErrFields},
		"negative field":         {plan(l, l, row, Pair{0, -1}), ErrFields},
		"sizes":                  {plan(l, l, row, Pair{0, 1}), ErrFields},
		"outside":                {plan(l, l, Range(5, 11), Pair{}), ErrPoints},
		"outside of source":      {plan(l, sparse, Range(1, 4), Pair{}), ErrPoints},
		"outside of destination": {plan(sparse, l, Indices(1, 2, 3), Pair{}), ErrPoints},
		"dimensions":             {plan(square, l, row, Pair{}), ErrPoints},
		"bad points":             {plan(l, l, Grid(), Pair{}), ErrSpace},
		"list too short":         {gather(l, l, row, 1, 2), ErrPoints},
		"index":                  {gather(l, l, Range(0, 2), 1, 10), ErrPoints},
		"index in a hole":        {gather(l, sparse, Range(0, 2), 1, 2), ErrPoints},
		"gather from a grid":     {gather(l, square, Range(0, 2), 1, 2), ErrPoints},
		"scatter outside":        {scatter(l, l, Range(0, 2), 1, -1), ErrPoints},
		"scatter from outside":   {scatter(l, l, Range(9, 11), 1, 2), ErrPoints},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %v", name, c.err, c.want)
		}
	}
	p, _ := NewPlan(l, l, row, Pair{})
	for name, m := range map[string][2][]byte{
		"source": {nil, make([]byte, l.Size()-1)}, "destination": {make([]byte, 1), nil},
	} {
		if _, err := p.Over(m[0], m[1]); !errors.Is(err, errMemory) {
			t.Errorf("short %s: %v", name, err)
		}
	}
	mem := make([]byte, l.Size())
	there, _, _ := l.Receive(p.AppendStream(nil), List{})
	if _, err := there.Over(mem, mem); !errors.Is(err, errMemory) {
		t.Errorf("a plan without a source takes one: %v", err)
	}
	for _, v := range []struct {
		f, n int
		mem  []byte
	}{{3, 1, mem}, {0, 2, mem}, {0, 1, mem[1:]}, {-1, 1, mem}} {
		if _, err := NewFilling(l, row, v.f, make([]byte, v.n), v.mem); err == nil {
			t.Errorf("filling field %d with %d bytes in %d", v.f, v.n, len(v.mem))
		}
	}
}

// TestCursorsDoNotAllocate: nor do calls outside of the stream do anything.
func TestCursorsDoNotAllocate(t *testing.T) {
	d := newDie(5)
	j := d.job(t, 0)
	c, _ := j.plan.Over(j.d, j.s)
	b := make([]byte, 100)
	if n := testing.AllocsPerRun(100, func() { c.Copy(0, 1<<40); c.Pack(b, 1); c.Unpack(b, 1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	before := bytes.Clone(j.d)
	c.Unpack(b, int(j.plan.Size()))
	c.Unpack(b, -1)
	if c.Copy(-1, 5) != -1 || c.Copy(j.plan.Size(), 5) != j.plan.Size() || !bytes.Equal(before, j.d) {
		t.Error("a call outside of the stream did something")
	}
}
