package dtype

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recipe is the text of how a type is made. Three readers turn it into a type: the engine, the naive type map below,
// and the C program in testdata.

// entry is a basic and its place.
type entry struct {
	b  Basic
	at int64
}

// naive is a type map that is written out, after the text of the standard.
type naive struct {
	entries []entry
	lb, ub  []int64 // markers
	soft    []span  // what elements reach over where there are no markers
	align   int64
	huge    bool // not written out
}

func (m *naive) bounds() (lb, ub int64) {
	if len(m.lb) > 0 {
		return slices.Min(m.lb), slices.Max(m.ub)
	}
	for i, s := range m.soft {
		if i == 0 {
			lb, ub = s.low, s.high
		}
		lb, ub = min(lb, s.low), max(ub, s.high)
	}
	return lb, ub
}

func (m *naive) extent() int64 {
	lb, ub := m.bounds()
	return ub - lb
}

func (m *naive) trueBounds() (lb, ub int64) {
	for i, e := range m.entries {
		if i == 0 {
			lb, ub = e.at, e.at
		}
		lb, ub = min(lb, e.at), max(ub, e.at+e.b.fact().size)
	}
	return lb, ub
}

func (m *naive) size() (n int64) {
	for _, e := range m.entries {
		n += e.b.fact().size
	}
	return n
}

// put adds n copies of o, the first one at.
func (m *naive) put(o *naive, n, at int64) {
	more := (len(o.entries) + len(o.lb)) * int(n)
	if m.huge = m.huge || o.huge || len(m.entries)+len(m.lb)+more > 10*mostBasics; m.huge {
		return
	}
	for i := range n {
		d := at + i*o.extent()
		for _, e := range o.entries {
			m.entries = append(m.entries, entry{e.b, e.at + d})
		}
		for k := range o.lb {
			m.lb, m.ub = append(m.lb, o.lb[k]+d), append(m.ub, o.ub[k]+d)
		}
		for _, s := range o.soft {
			m.soft = append(m.soft, span{s.low + d, s.high + d, true})
		}
		if len(o.entries) > 0 || len(o.lb) > 0 {
			m.align = max(m.align, o.align)
		}
	}
}

func (m *naive) mark(lb, extent int64) { m.lb, m.ub = []int64{lb}, []int64{lb + extent} }

// pad has the extent a multiple of the alignment.
func (m *naive) pad() {
	if len(m.lb) > 0 || m.align == 0 {
		return
	}
	lb, ub := m.bounds()
	for (ub-lb)%m.align != 0 {
		ub++
	}
	m.soft = []span{{lb, ub, true}}
}

func naiveBasic(b Basic) *naive {
	f := b.fact()
	if f.kind != 0 {
		return &naive{entries: []entry{{b, 0}}, soft: []span{{0, f.size, true}}, align: f.align}
	}
	m, one, two := &naive{}, naiveBasic(f.one), naiveBasic(f.more)
	m.put(one, 1, 0)
	at := f.one.fact().size
	for at%two.align != 0 {
		at++
	}
	m.put(two, 1, at)
	m.pad()
	return m
}

// reader makes a type, in both forms, of the words of a recipe.
type reader struct {
	words []string
	err   error
}

func read(recipe string) (*Type, *naive, error) {
	r := &reader{words: strings.Fields(recipe)}
	t, m := r.next()
	if r.err == nil && len(r.words) > 0 {
		r.err = fmt.Errorf("%q is left", r.words)
	}
	return t, m, r.err
}

// mustRead is read where the recipe is right.
func mustRead(t testing.TB, recipe string) (*Type, *naive) {
	t.Helper()
	typ, m, err := read(recipe)
	if err != nil {
		t.Fatalf("%s: %v", recipe, err)
	}
	return typ, m
}

func (r *reader) word() string {
	if len(r.words) == 0 {
		r.words = []string{""}
	}
	w := r.words[0]
	r.words = r.words[1:]
	return w
}

func (r *reader) num() int64 {
	n, err := strconv.ParseInt(r.word(), 10, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return n
}

func (r *reader) nums(n int64) []int64 {
	list := make([]int64, n)
	for i := range list {
		list[i] = r.num()
	}
	return list
}

var basicNames = func() map[string]Basic {
	names := make(map[string]Basic)
	for _, b := range Basics() {
		names[b.fact().name] = b
	}
	return names
}()

func (r *reader) next() (*Type, *naive) {
	w := r.word()
	if b, ok := basicNames[w]; ok {
		return Named(b), naiveBasic(b)
	}
	makers := map[string]func() (*Type, *naive, error){
		"contig": r.contig, "vector": r.vector, "hvector": r.hvector, "indexed": r.indexed, "hindexed": r.hindexed,
		"iblock": r.iblock, "hiblock": r.hiblock, "struct": r.structure, "resized": r.resized, "dup": r.dup,
		"subarray": r.subarray, "darray": r.darray,
	}
	make, ok := makers[w]
	if !ok {
		r.err = fmt.Errorf("there is no constructor %q", w)
		return Named(Byte), naiveBasic(Byte)
	}
	t, m, err := make()
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%s: %w", w, err)
	}
	return t, m
}

func (r *reader) contig() (*Type, *naive, error) {
	n := r.num()
	o, om := r.next()
	m := &naive{}
	m.put(om, n, 0)
	t, err := Contiguous(n, o)
	return t, m, err
}

func (r *reader) vector() (*Type, *naive, error) {
	n, length, stride := r.num(), r.num(), r.num()
	o, om := r.next()
	m := &naive{}
	for i := range n {
		m.put(om, length, i*stride*om.extent())
	}
	t, err := Vector(n, length, stride, o)
	return t, m, err
}

func (r *reader) hvector() (*Type, *naive, error) {
	n, length, stride := r.num(), r.num(), r.num()
	o, om := r.next()
	m := &naive{}
	for i := range n {
		m.put(om, length, i*stride)
	}
	t, err := Hvector(n, length, stride, o)
	return t, m, err
}

// pairs reads lengths and displacements in turn.
func (r *reader) pairs() (lengths, displs []int64) {
	for range r.num() {
		lengths, displs = append(lengths, r.num()), append(displs, r.num())
	}
	return lengths, displs
}

func (r *reader) indexed() (*Type, *naive, error) {
	lengths, displs := r.pairs()
	o, om := r.next()
	m := &naive{}
	for i := range lengths {
		m.put(om, lengths[i], displs[i]*om.extent())
	}
	t, err := Indexed(lengths, displs, o)
	return t, m, err
}

func (r *reader) hindexed() (*Type, *naive, error) {
	lengths, displs := r.pairs()
	o, om := r.next()
	m := &naive{}
	for i := range lengths {
		m.put(om, lengths[i], displs[i])
	}
	t, err := Hindexed(lengths, displs, o)
	return t, m, err
}

func (r *reader) iblock() (*Type, *naive, error) {
	n, length := r.num(), r.num()
	displs := r.nums(n)
	o, om := r.next()
	m := &naive{}
	for _, d := range displs {
		m.put(om, length, d*om.extent())
	}
	t, err := IndexedBlock(length, displs, o)
	return t, m, err
}

func (r *reader) hiblock() (*Type, *naive, error) {
	n, length := r.num(), r.num()
	displs := r.nums(n)
	o, om := r.next()
	m := &naive{}
	for _, d := range displs {
		m.put(om, length, d)
	}
	t, err := HindexedBlock(length, displs, o)
	return t, m, err
}

func (r *reader) structure() (*Type, *naive, error) {
	var lengths, displs []int64
	var types []*Type
	m := &naive{}
	for range r.num() {
		lengths, displs = append(lengths, r.num()), append(displs, r.num())
		o, om := r.next()
		types = append(types, o)
		m.put(om, lengths[len(lengths)-1], displs[len(displs)-1])
	}
	m.pad()
	t, err := Struct(lengths, displs, types)
	return t, m, err
}

func (r *reader) resized() (*Type, *naive, error) {
	lb, extent := r.num(), r.num()
	o, m := r.next()
	m.mark(lb, extent)
	t, err := Resized(lb, extent, o)
	return t, m, err
}

func (r *reader) dup() (*Type, *naive, error) {
	o, m := r.next()
	t, err := Dup(o)
	return t, m, err
}

func orderOf(word string) Order {
	if word == "F" {
		return OrderFortran
	}
	return OrderC
}

// places lists, for each element of an array in the order of memory, whether it is wanted, and puts those that are.
func (m *naive) places(sizes []int64, order Order, o *naive, wanted func(index []int64) bool) {
	total := int64(1)
	for _, s := range sizes {
		total *= s
	}
	index := make([]int64, len(sizes))
	for i := range total {
		rest := i
		for k := range sizes {
			d := dimension(order, k, len(sizes))
			index[d], rest = rest%sizes[d], rest/sizes[d]
		}
		if wanted(index) {
			m.put(o, 1, i*o.extent())
		}
	}
	m.mark(0, total*o.extent())
}

func (r *reader) subarray() (*Type, *naive, error) {
	n, order := r.num(), orderOf(r.word())
	sizes, sub, starts := r.nums(n), r.nums(n), r.nums(n)
	o, om := r.next()
	m := &naive{}
	m.places(sizes, order, om, func(index []int64) bool {
		for d, i := range index {
			if i < starts[d] || i >= starts[d]+sub[d] {
				return false
			}
		}
		return true
	})
	t, err := Subarray(sizes, sub, starts, order, o)
	return t, m, err
}

var distributions = map[string]Distribution{"n": DistributeNone, "b": DistributeBlock, "c": DistributeCyclic}

func (r *reader) darray() (*Type, *naive, error) {
	size, rank, n, order := r.num(), r.num(), r.num(), orderOf(r.word())
	gsizes := r.nums(n)
	var how []Distribution
	for range n {
		how = append(how, distributions[r.word()])
	}
	dargs, psizes := r.nums(n), r.nums(n)
	for d := range dargs {
		if dargs[d] == 0 {
			dargs[d] = DistributeDefault
		}
	}
	o, om := r.next()
	m := &naive{}
	m.places(gsizes, order, om, func(index []int64) bool {
		owner := int64(0)
		for d, i := range index {
			owner = owner*psizes[d] + ownerOf(how[d], dargs[d], i, gsizes[d], psizes[d])
		}
		return owner == rank
	})
	t, err := Darray(size, rank, gsizes, how, dargs, psizes, order, o)
	return t, m, err
}

// ownerOf is who has index i of a dimension, after High Performance Fortran.
func ownerOf(how Distribution, darg, i, elements, ranks int64) int64 {
	switch {
	case how == DistributeNone:
		return 0
	case how == DistributeBlock && darg == DistributeDefault:
		darg = (elements + ranks - 1) / ranks
	case darg == DistributeDefault:
		darg = 1
	}
	return i / darg % ranks
}
