package schedule

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// call is a collective of all ranks with arguments that they share.
type call struct {
	size, root int
	n          int // bytes of each rank's contribution
	elems      int // of a vector to combine
	segment    int // of a message of one, in bytes
	inPlace    bool
	counts     []int // bytes, of parts of different lengths
	displs     []int
	room       int // bytes that the parts need

	kind   kindOf
	blocks []int // bytes of the parts of a vector, whole elements
	starts []int // where they begin
	first  int   // ranks of the first of two groups; 0: there is one
	plain  bool  // both have parts of n bytes
	graph  *graph
}

// vector is the length of a vector in bytes.
func (c call) vector() int { return c.elems * elemSize }

// lengths of it for algorithms with segments.
func (c call) lengths() Lengths { return Lengths{c.vector(), c.segment - elemSize, c.segment} }

func newCall(rnd *rand.Rand, size int) call {
	lengths := []int{0, 1, 3, rnd.IntN(160), rnd.IntN(160)}
	c := call{
		size: size, root: rnd.IntN(size), n: lengths[rnd.IntN(5)], elems: min(lengths[rnd.IntN(5)], 40),
		segment: elemSize * (2 + rnd.IntN(6)), inPlace: rnd.IntN(2) == 0,
		counts: make([]int, size), displs: make([]int, size),
		kind: kinds[rnd.IntN(2)], blocks: make([]int, size), starts: make([]int, size),
		first: 1 + rnd.IntN(max(size-1, 1)), graph: newGraph(rnd, size),
	}
	for _, i := range rnd.Perm(size) {
		c.counts[i] = rnd.IntN(3) * rnd.IntN(20)
		c.displs[i] = c.room + rnd.IntN(3)
		c.room = c.displs[i] + c.counts[i]
	}
	ends := make([]int, size) // in elements
	for i := range ends {
		ends[i] = rnd.IntN(c.elems + 1)
	}
	slices.Sort(ends)
	ends[size-1] = c.elems
	for i, end := range ends {
		c.blocks[i] = elemSize * end
		if i > 0 {
			c.starts[i] = elemSize * ends[i-1]
			c.blocks[i] -= c.starts[i]
		}
	}
	return c
}

// bytesOf are the bytes that from has for to.
func (c call) bytesOf(from, to, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(from*31 + to*7 + i*3 + 1)
	}
	return b
}

// parts are those of all ranks, as one rank sends them to all or gets them of all.
func (c call) parts(buf Buf) *Parts {
	return &Parts{Buf: buf, Counts: c.counts, Displs: c.displs, Size: 1}
}

// rooted is a gather or scatter of equal parts. The result of a scatter is never in place, so that it is looked at.
func (c call) rooted(p Place, down bool) Rooted {
	return Rooted{Root: c.root, N: c.n, Down: down, InPlace: c.inPlace && !down && p.Rank == c.root}
}

// rootedV is rooted for parts of different lengths.
func (c call) rootedV(p Place, down bool) Rooted {
	r := c.rooted(p, down)
	r.N = c.counts[p.Rank]
	return r
}

func (c call) even(buf Buf) *Parts { return &Parts{Buf: buf, Each: c.n} }

// lay gives the parts, each from what f gives, in their places, and what is between them as the simulation has it.
func (c call) lay(p *Parts, room int, f func(i, n int) []byte) []byte {
	b := bytes.Repeat([]byte{0xee}, room)
	for i := range c.size {
		at, n := p.partOf(i)
		copy(b[at.Off:], f(i, n))
	}
	return b
}

// algorithm is a builder with what a call of it means.
type algorithm struct {
	name   string
	build  func(c call, s *Schedule, p Place)
	in     func(c call, rank int) []byte
	out    func(c call, rank int) int
	shared func(c call, rank int) int    // where in Out In lies, where inPlace; -1: never
	want   func(c call, rank int) []byte // content of Out; nil: not looked at
}

func never(call, int) int { return -1 }

// alwaysFirst is for calls that are in place.
func alwaysFirst(call, int) int { return 0 }

func nothing(call, int) []byte { return nil }

func zero(call, int) int { return 0 }

func atRoot(f func(c call, rank int) int) func(c call, rank int) int {
	return func(c call, rank int) int {
		if rank != c.root {
			return -1
		}
		return f(c, rank)
	}
}

// forRoot is the length of Out where only root has one.
func forRoot(f func(c call, rank int) int) func(c call, rank int) int {
	return func(c call, rank int) int {
		if rank != c.root {
			return 0
		}
		return f(c, rank)
	}
}

func contribution(c call, rank int) []byte { return c.bytesOf(rank, 0, c.n) }

func contributionV(c call, rank int) []byte { return c.bytesOf(rank, 0, c.counts[rank]) }

func whole(c call, _ int) int { return c.n * c.size }

func wholeV(c call, _ int) int { return c.room }

func ownPart(c call, rank int) int { return c.n * rank }

func ownPartV(c call, rank int) int { return c.displs[rank] }

func all(c call, _ int) []byte {
	return c.lay(c.even(Out), c.n*c.size, func(i, n int) []byte { return c.bytesOf(i, 0, n) })
}

func allV(c call, _ int) []byte {
	return c.lay(c.parts(Out), c.room, func(i, n int) []byte { return c.bytesOf(i, 0, n) })
}

func rooted(f func(c call, rank int) []byte) func(c call, rank int) []byte {
	return func(c call, rank int) []byte {
		if rank != c.root {
			return nil
		}
		return f(c, rank)
	}
}

func length(c call, _ int) int { return c.n }

// toAll is what a rank sends in an alltoall, and fromAll what it gets.
func toAll(c call, rank int) []byte {
	return c.lay(c.even(In), c.n*c.size, func(i, n int) []byte { return c.bytesOf(rank, i, n) })
}

func fromAll(c call, rank int) []byte {
	return c.lay(c.even(Out), c.n*c.size, func(i, n int) []byte { return c.bytesOf(i, rank, n) })
}

// bcastRoot has the root's bytes in Out: In is them.
func bcastRoot(c call, rank int) []byte {
	if rank == c.root {
		return contribution(c, rank)
	}
	return nil
}

var movers = []algorithm{
	{"Barrier", func(_ call, s *Schedule, p Place) { s.Barrier(p) }, nothing, zero, never, nil},
	{
		"BcastTree", func(c call, s *Schedule, p Place) { s.BcastTree(p, c.root, c.n) },
		bcastRoot, length, atRoot(zero), func(c call, _ int) []byte { return contribution(c, c.root) },
	},
	{
		"BcastRing", func(c call, s *Schedule, p Place) { s.BcastRing(p, c.root, c.n, 1) },
		bcastRoot, length, atRoot(zero), func(c call, _ int) []byte { return contribution(c, c.root) },
	},
	{
		"GatherTree", func(c call, s *Schedule, p Place) { s.Tree(p, c.rooted(p, false)) },
		contribution, forRoot(whole), atRoot(ownPart), rooted(all),
	},
	{
		"GatherAll", func(c call, s *Schedule, p Place) { s.Star(p, c.rooted(p, false), c.even(Out)) },
		contribution, forRoot(whole), atRoot(ownPart), rooted(all),
	},
	{
		"Gatherv", func(c call, s *Schedule, p Place) { s.Star(p, c.rootedV(p, false), c.parts(Out)) },
		contributionV, forRoot(wholeV), atRoot(ownPartV), rooted(allV),
	},
	{
		"ScatterTree", func(c call, s *Schedule, p Place) { s.Tree(p, c.rooted(p, true)) },
		toAll, length, never, func(c call, rank int) []byte { return c.bytesOf(c.root, rank, c.n) },
	},
	{
		"ScatterAll", func(c call, s *Schedule, p Place) { s.Star(p, c.rooted(p, true), c.even(In)) },
		toAll, length, never, func(c call, rank int) []byte { return c.bytesOf(c.root, rank, c.n) },
	},
	{
		"Scatterv", func(c call, s *Schedule, p Place) { s.Star(p, c.rootedV(p, true), c.parts(In)) },
		func(c call, rank int) []byte {
			return c.lay(c.parts(In), c.room, func(i, n int) []byte { return c.bytesOf(rank, i, n) })
		},
		func(c call, rank int) int { return c.counts[rank] }, never,
		func(c call, rank int) []byte { return c.bytesOf(c.root, rank, c.counts[rank]) },
	},
	{
		"AllgatherSteps", func(c call, s *Schedule, p Place) { s.AllgatherSteps(p, c.n, c.inPlace) },
		contribution, whole, ownPart, all,
	},
	{
		"AllgatherRing", func(c call, s *Schedule, p Place) { s.AllgatherRing(p, c.even(Out), c.inPlace) },
		contribution, whole, ownPart, all,
	},
	{
		"Allgatherv", func(c call, s *Schedule, p Place) { s.AllgatherRing(p, c.parts(Out), c.inPlace) },
		contributionV, wholeV, ownPartV, allV,
	},
	{
		"AlltoallAll", func(c call, s *Schedule, p Place) { s.AlltoallAll(p, c.even(In), c.even(Out), 0) },
		toAll, whole, never, fromAll,
	},
	{
		"AlltoallPairs", func(c call, s *Schedule, p Place) { s.AlltoallPairs(p, c.even(In), c.even(Out), 0) },
		toAll, whole, never, fromAll,
	},
	{
		"AlltoallAll in place",
		func(c call, s *Schedule, p Place) { s.AlltoallAll(p, c.even(Work), c.even(Out), c.n*c.size) },
		toAll, whole, alwaysFirst, fromAll,
	},
	{
		"AlltoallPairs in place",
		func(c call, s *Schedule, p Place) { s.AlltoallPairs(p, c.even(Work), c.even(Out), c.n*c.size) },
		toAll, whole, alwaysFirst, fromAll,
	},
	{
		"AlltoallPairs of different lengths",
		func(c call, s *Schedule, p Place) { from, to := c.exchanged(p.Rank); s.AlltoallPairs(p, from, to, 0) },
		func(c call, rank int) []byte {
			from, _ := c.exchanged(rank)
			return c.lay(from, 40*c.size, func(i, n int) []byte { return c.bytesOf(rank, i, n) })
		},
		func(c call, _ int) int { return 40 * c.size }, never,
		func(c call, rank int) []byte {
			_, to := c.exchanged(rank)
			return c.lay(to, 40*c.size, func(i, n int) []byte { return c.bytesOf(i, rank, n) })
		},
	},
}

// exchanged are the parts that a rank sends to the others, and those that it gets: from i to j go (3i+5j)%40 bytes.
func (c call) exchanged(rank int) (from, to *Parts) {
	from, to = c.parts(In), c.parts(Out)
	from.Counts, to.Counts = make([]int, c.size), make([]int, c.size)
	from.Displs, to.Displs = make([]int, c.size), make([]int, c.size)
	for i := range c.size {
		from.Counts[i], to.Counts[i] = (3*rank+5*i)%40, (3*i+5*rank)%40
		from.Displs[i], to.Displs[i] = 40*i, 40*(c.size-1-i)
	}
	return from, to
}

// sim makes the ranks of a call.
func (a algorithm) sim(c call, rnd *rand.Rand) *sim {
	if strings.Contains(a.name, "Bcast") || strings.HasSuffix(a.name, "in place") {
		c.inPlace = true // its buffer is Out
	}
	peer := func(_, i int) int { return i }
	if strings.HasPrefix(a.name, "Inter") {
		peer = c.peer
	}
	return newSim(rnd, c.size,
		func(rank int) []byte { return a.in(c, rank) },
		func(rank int) int { return a.out(c, rank) },
		func(rank int) int {
			if !c.inPlace {
				return -1
			}
			return a.shared(c, rank)
		},
		func(s *Schedule, p Place) { a.build(c, s, p) }, peer, c.kind.combine)
}

// try runs one call, and checks what it gives.
func (a algorithm) try(c call, rnd *rand.Rand) error {
	x := a.sim(c, rnd)
	if err := x.run(); err != nil {
		return err
	}
	for r, n := range x.nodes {
		if a.want == nil {
			continue
		}
		want := a.want(c, r)
		if want != nil && !bytes.Equal(n.mem[Out][:len(want)], want) {
			return fmt.Errorf("rank %d: got %v, want %v", r, n.mem[Out], want)
		}
	}
	return nil
}

// sizes of jobs that are tried.
func sizes(short bool) (all []int) {
	for size := 1; size <= most; size++ {
		all = append(all, size)
	}
	if !short {
		all = append(all, 31, 32, 33, 63, 64, 65)
	}
	return all
}

// most ranks that are always tried; in a full run with each of them as root.
const most = 17

func tries(size int) int {
	switch {
	case size > most:
		return 2
	case testing.Short():
		return 5
	}
	return max(size, 5)
}

// algorithms are all builders.
func algorithms() []algorithm {
	return slices.Concat(movers, moversV, reducers, neighbourly, betweenGroups)
}

// TestAlgorithms runs each algorithm among 1 to 17 ranks and more, with all roots, and with ends in random order,
// against what it means. In each run every send has its receive, nothing hangs, and no memory is written while it is in
// use.
func TestAlgorithms(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	for _, a := range algorithms() {
		t.Run(a.name, func(t *testing.T) {
			for _, size := range sizes(testing.Short()) {
				for round := range tries(size) {
					rnd := rand.New(rand.NewPCG(seed, uint64(100*size+round)))
					c := newCall(rnd, size)
					if size <= most && !testing.Short() {
						c.root = round % size
					}
					if err := a.try(c, rnd); err != nil {
						t.Fatalf("seed %d, %+v: %v", seed, c, err)
					}
				}
			}
		})
	}
}

// FuzzAlgorithms is TestAlgorithms with arguments of the fuzzer's choice.
func FuzzAlgorithms(f *testing.F) {
	for i := range algorithms() {
		f.Add(uint8(i), uint8(3+i), uint64(i))
	}
	f.Fuzz(func(t *testing.T, which, size uint8, seed uint64) {
		all := algorithms()
		a := all[int(which)%len(all)]
		rnd := rand.New(rand.NewPCG(seed, 1))
		c := newCall(rnd, int(size)%most+1)
		if err := a.try(c, rnd); err != nil {
			t.Fatalf("%s, %+v: %v", a.name, c, err)
		}
	})
}

// TestNoAllocation: a schedule that is built and run again allocates nothing.
func TestNoAllocation(t *testing.T) {
	var s Schedule
	var r Run
	step := func() {
		for size := 2; size < 6; size++ {
			for _, build := range again {
				build(&s, Place{1, size})
				r.Begin(&s, 0)
				for !r.Over() {
					if st, i := r.Next(); st != nil {
						r.Done(i)
					}
				}
			}
		}
	}
	step()
	if n := testing.AllocsPerRun(100, step); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// again are calls of builders.
var again = func() []func(s *Schedule, p Place) {
	in, out, near := &Parts{Buf: In, Each: 8}, &Parts{Buf: Out, Each: 8}, &Neighbours{From: []int{0}, To: []int{0}}
	l := Lengths{1000, 100, 128}
	return []func(s *Schedule, p Place){
		func(s *Schedule, p Place) { s.AllreduceShares(p, 100, 8) },
		func(s *Schedule, p Place) { s.AllreduceDoubling(p, 8, true) },
		func(s *Schedule, p Place) { s.ReduceTree(p, 0, l, false) },
		func(s *Schedule, p Place) { s.ReduceScatterShares(p, in, true) },
		func(s *Schedule, p Place) { s.ReduceScatterHalving(p, in, true) },
		func(s *Schedule, p Place) { s.Scan(p, l, false) },
		func(s *Schedule, p Place) { s.Exscan(p, l, true) },
		func(s *Schedule, p Place) { s.AllgathervSteps(p, out, false) },
		func(s *Schedule, p Place) { s.AlltoallBruck(p, 8) },
		func(s *Schedule, p Place) { s.NeighbourAllgather(p.Rank, near, 8, out) },
		func(s *Schedule, p Place) { s.NeighbourAlltoall(p.Rank, near, in, out) },
		func(s *Schedule, p Place) { s.InterBarrier(Inter{p, 3}) },
		func(s *Schedule, p Place) { s.InterAllreduce(Inter{p, 3}, l) },
		func(s *Schedule, p Place) { s.InterAllgatherv(Inter{p, 3}, 8, out) },
		func(s *Schedule, p Place) { s.InterReduceScatter(Inter{p, 3}, l, in) },
		func(s *Schedule, p Place) { s.InterAlltoall(Inter{p, 3}, in, out) },
	}
}()

// TestWork: of the parts that a rank passes on it needs those in Work that are not its own, of a scatter all. Root and
// leaves of a tree need no Work where no run of ranks goes round the end of the buffer.
func TestWork(t *testing.T) {
	const n = 8
	for size := 1; size <= most; size++ {
		for rank := range size {
			var s Schedule
			p := Place{rank, size}
			run := min(p.spanOf(rank), size-rank) // in the tree of rank 0
			s.Tree(p, Rooted{N: n})
			if want := n * (run - 1); rank > 0 && s.Work != want || rank == 0 && s.Work != 0 {
				t.Errorf("gather, rank %d of %d: %d bytes of Work", rank, size, s.Work)
			}
			s.Tree(p, Rooted{N: n, Down: true})
			if want := n * run; rank > 0 && run > 1 && s.Work != want || (rank == 0 || run == 1) && s.Work != 0 {
				t.Errorf("scatter, rank %d of %d: %d bytes of Work", rank, size, s.Work)
			}
			s.AllgatherSteps(p, n, false)
			if s.Work > n*size/2 || s.Work > n*(size-rank) && s.Work > n*rank*2 {
				t.Errorf("allgather, rank %d of %d: %d bytes of Work", rank, size, s.Work)
			}
		}
	}
}

// TestRun: steps are started in their order, each when the leading ones that it names are done, and may end in any
// order.
func TestRun(t *testing.T) {
	s := Schedule{Steps: make([]Step, 4)}
	s.Steps[2].After, s.Steps[3].After = 1, 3
	var r Run
	r.Begin(&s, 0)
	started := func(want int) {
		t.Helper()
		for i := range want {
			if st, _ := r.Next(); st == nil {
				t.Fatalf("%d steps were started, not %d", i, want)
			}
		}
		if st, i := r.Next(); st != nil {
			t.Fatalf("step %d was started", i)
		}
	}
	started(2)
	r.Done(1)
	started(0)
	if _, i := r.Pending(0); i != 0 {
		t.Fatalf("step %d is waited for, not 0", i)
	}
	r.Done(0)
	started(1)
	if !r.Stuck(2) || r.Over() {
		t.Fatal("step 3 need not wait for step 2")
	}
	r.Done(2)
	started(1)
	r.Done(3)
	if st, _ := r.Pending(0); !r.Over() || st != nil {
		t.Fatal("it is not over")
	}
}
