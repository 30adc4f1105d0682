package coll

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/shmcoll"
	"github.com/golci/golci/mpi/internal/signature"
)

// sumFloats combines doubles so that the order of a reduction shows, and which of two operands is the lower one.
type sumFloats struct{}

func (sumFloats) Into(out, low, high []byte) {
	for i := 0; i < len(out); i += 8 {
		x := 1.5**(*float64)(unsafe.Pointer(&low[i])) - *(*float64)(unsafe.Pointer(&high[i]))
		*(*float64)(unsafe.Pointer(&out[i])) = x
	}
}

// sumRudely is sumFloats that writes to high where out is low, as it may.
type sumRudely struct{}

func (sumRudely) Into(out, low, high []byte) {
	if len(out) > 0 && &out[0] == &low[0] {
		sumFloats{}.Into(high, low, high)
		copy(out, high)
		clear(high)
		return
	}
	sumFloats{}.Into(out, low, high)
}

// sumLate is sumRudely on a rank that is late now and then.
type sumLate struct {
	c    *testComm
	late *rand.Rand
}

func (s *sumLate) Into(out, low, high []byte) {
	if s.late.IntN(4) == 0 {
		for range 200 {
			s.c.Server.Poll()
		}
	}
	sumRudely{}.Into(out, low, high)
}

// trial is a collective of n doubles of each rank. in and out are as many doubles for each rank.
type trial struct {
	name   string
	all    bool // in has n doubles for each rank
	wide   bool // out has
	place  bool // in place, too
	rooted bool
	kind   argument.Kind
}

var trials = []trial{
	{"Barrier", false, false, false, false, argument.KindBarrier},
	{"Bcast", false, false, false, true, argument.KindBcast},
	{"Reduce", false, false, false, true, argument.KindReduce},
	{"Allreduce", false, false, true, false, argument.KindAllreduce},
	{"Gather", false, true, false, true, argument.KindGather},
	{"Scatter", true, false, false, true, argument.KindScatter},
	{"Allgather", false, true, true, false, argument.KindAllgather},
	{"Alltoall", true, true, true, false, argument.KindAlltoall},
	{"ReduceScatterBlock", true, false, true, false, argument.KindReduceScatterBlock},
}

// doubleElem is of the elements of trials.
var doubleElem = signature.NewElem(reflect.TypeFor[float64]())

// try makes the call on c and gives what out holds then.
func (tr *trial) try(c *testComm, n, root int, place bool, op argument.Combiner, rnd *rand.Rand) ([]byte, error) {
	size := func(all bool) int {
		if all {
			return 8 * n * c.Size()
		}
		return 8 * n
	}
	in, out := make([]uint64, size(tr.all)/8+1), make([]uint64, size(tr.wide)/8+1)
	for i := range in {
		in[i] = math.Float64bits(rnd.NormFloat64())
	}
	for i := range out {
		out[i] = math.Float64bits(rnd.NormFloat64())
	}
	if tr.name == "Bcast" || place {
		out = in[:len(in):len(in)]
		if tr.name == "Allgather" {
			out = make([]uint64, size(true)/8+1)
			for i := range out {
				out[i] = math.Float64bits(rnd.NormFloat64())
			}
		}
	}
	nOut := len(out) - 1
	k := argument.Description{
		Kind: tr.kind, What: tr.name, Root: root, Elem: doubleElem, Operator: argument.Operator{Combiner: op},
		In: argument.SideOf(in[:len(in)-1]), Out: argument.SideOf(out[:nOut]),
	}
	switch {
	case place:
		k.In = argument.Side{Mem: argument.InPlace()}
	case tr.kind == argument.KindBcast:
		k.In = argument.Side{}
	}
	err := c.Do(&k)
	return slices.Clone(bytesAt(unsafe.Pointer(&out[0]), 8*nOut)), err
}

func bytesAt(p unsafe.Pointer, n int) []byte { return unsafe.Slice((*byte)(p), n) }

// layouts say on which node a rank is.
var layouts = map[string]func(rank int) int{
	"one node":   func(int) int { return 0 },
	"pairs":      func(r int) int { return r / 2 },
	"fours":      func(r int) int { return r / 4 },
	"alternate":  func(r int) int { return r % 2 },
	"one and up": func(r int) int { return min(r, 1) },
	"triangle":   func(r int) int { return int((math.Sqrt(float64(8*r+1)) - 1) / 2) },
}

// trialCounts are numbers of doubles around the limits: of a head, a short place, a chunk, a ring and more than one.
func trialCounts() []int {
	const chunk = shmcoll.ChunkBytes / 8
	all := []int{0, 1, shmcoll.Inline / 8, shmcoll.Inline/8 + 1, shmcoll.Short / 8, shmcoll.Short/8 + 1, 2*chunk + 5}
	if !invariants.Race {
		all = append(all, chunk-1, shmcoll.Chunks*chunk+3)
	}
	return all
}

// TestShmAsMessages: each collective over shared segments gives the bytes that it gives by messages, for all layouts of
// ranks on nodes, roots and lengths, in place and not.
func TestShmAsMessages(t *testing.T) {
	sizes := []int{2, 3, 4, 7, 8}
	if testing.Short() || invariants.Race {
		sizes = []int{3, 4}
	}
	for name, node := range layouts {
		for _, size := range sizes {
			if size == 7 && name != "one node" && name != "triangle" {
				continue // the others are as with 8, or have no tiers
			}
			t.Run(fmt.Sprintf("%s/%d", name, size), func(t *testing.T) {
				run(t, size, func(c *testComm) error {
					c.OfRank.Machine = uint64(1 + node(c.Rank()))
					return compareTrials(c)
				}, "GOLCI_COLLECTIVES", "memory")
			})
		}
	}
}

func compareTrials(c *testComm) error {
	plain, err := c.Dup()
	if err != nil {
		return err
	}
	plain.shared.at = 0
	for range shmFrom {
		if err := c.Barrier(); err != nil {
			return err
		}
	}
	sh := &c.shared
	if sh.b == nil && len(sh.ranks) > 1 {
		return errors.New("there is no shared segment")
	}
	sh.crowded = false // TestCountsAsMessages is for those that count
	if plain.shared.b != nil {
		return errors.New("there is a shared segment where none is wanted")
	}
	return compareAll(c, plain, trials)
}

// compareAll makes calls of all kinds on c and by messages.
func compareAll(c, plain *testComm, trials []trial) error {
	for _, n := range trialCounts() {
		for i := range trials {
			tr := &trials[i]
			for _, place := range []bool{false, true} {
				roots := []int{0, c.Size() - 1}
				if !tr.rooted {
					roots = roots[:1]
				}
				for _, root := range roots {
					if place && !tr.place {
						continue
					}
					if err := compareTrial(c, plain, tr, n, root, place); err != nil {
						return fmt.Errorf("%s, %d doubles, root %d, in place %t: %w", tr.name, n, root, place, err)
					}
				}
			}
		}
	}
	return nil
}

func compareTrial(c, plain *testComm, tr *trial, n, root int, place bool) error {
	seed := func() *rand.Rand { return rand.New(rand.NewPCG(uint64(c.Rank()), uint64(n))) }
	want, err := tr.try(plain, n, root, place, sumFloats{}, seed())
	if err != nil {
		return fmt.Errorf("by messages: %w", err)
	}
	got, err := tr.try(c, n, root, place, sumRudely{}, seed())
	if err != nil {
		return err
	}
	if !bytes.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				return fmt.Errorf("byte %d of %d is %d, by messages it is %d", i, len(got), got[i], want[i])
			}
		}
	}
	return nil
}

// TestShmCallsUnderWay: ranks that are ahead write to no place that a rank which is behind still reads. Each rank is
// late now and then. A call brings its number, so old or new bytes show.
func TestShmCallsUnderWay(t *testing.T) {
	calls := 1500
	if testing.Short() || invariants.Race {
		calls = 300
	}
	seed := seedOf(t)
	for _, crowded := range []bool{false, true} {
		underWay(t, crowded, calls, seed)
	}
}

func underWay(t *testing.T, crowded bool, calls int, seed uint64) {
	const size, streak = 4, 50
	run(t, size, func(c *testComm) error {
		all, late := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, uint64(2+c.Rank())))
		root, reader := 0, 0 // in a streak all calls are short broadcasts of one rank, and another one is late
		for i := range calls {
			c.shared.crowded = crowded
			n, reduce, rooted, polls := 1, false, false, 0
			if i/streak%2 == 0 {
				n, root, reader = []int{1, 300, 2000, 40_000, 6000}[all.IntN(5)], all.IntN(size), all.IntN(size)
				reduce, polls = all.IntN(3) == 0, late.IntN(4)*late.IntN(100)
				rooted = reduce && all.IntN(2) == 0
			} else if c.Rank() == reader {
				polls = 300
			}
			for range polls {
				c.Server.Poll()
			}
			mem := make([]float64, n)
			for k := range mem {
				mem[k] = float64(i)
			}
			if c.Rank() != root && !reduce {
				clear(mem)
			}
			k := argument.Description{
				Kind: argument.KindBcast, What: "Call", Root: root, Elem: doubleElem, Out: argument.SideOf(mem),
			}
			if reduce {
				k.Kind, k.Operator = argument.KindAllreduce, argument.Operator{Combiner: &sumLate{c, late}}
				k.In.Mem = argument.InPlace()
			}
			if rooted && reduce {
				k.Kind = argument.KindReduce
			}
			if rooted && reduce && c.Rank() != root {
				k.In, k.Out = argument.SideOf(mem), argument.Side{}
			}
			err := c.Do(&k)
			want := float64(i)
			if reduce && (!rooted || c.Rank() == root) {
				want = 1.5*(want/2) - want/2
			}
			for k, got := range mem {
				if err == nil && got != want {
					return fmt.Errorf("call %d of %d doubles, root %d, reduction %t: %d is %v, want %v", i, n, root, reduce, k, got,
						want)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, "GOLCI_COLLECTIVES", "memory", "GOLCI_CHECK", "off") // a comparison would keep ranks together
}

// combinerFunc is a function as a Combiner.
type combinerFunc func(out, low, high []byte)

func (f combinerFunc) Into(out, low, high []byte) { f(out, low, high) }

// TestReduceLongLate: a rank that has done its share of a long Reduce goes on. In its next call it writes to no place
// that the root still reads.
func TestReduceLongLate(t *testing.T) {
	const size, n, root = 3, 4 * shmcoll.ChunkBytes / 8, 0
	var ahead atomic.Bool // rank 1 begins its next call
	run(t, size, func(c *testComm) error {
		plain, err := c.Dup()
		if err != nil {
			return err
		}
		plain.shared.at = 0
		for range shmFrom {
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		left := n * 8 / shmcoll.ChunkBytes * (size - 1) // the root's combinations
		late := combinerFunc(func(out, low, high []byte) {
			for polls := 0; c.Rank() == root && left == 1 && polls < 20_000; polls++ {
				if !ahead.Load() {
					polls = 0
				}
				c.Server.Poll()
				runtime.Gosched()
			}
			left--
			sumFloats{}.Into(out, low, high)
		})
		reduce, bcast := trial{name: "Reduce", kind: argument.KindReduce}, trial{name: "Bcast", kind: argument.KindBcast}
		vector := func() *rand.Rand { return rand.New(rand.NewPCG(uint64(c.Rank()), 1)) }
		want, err := reduce.try(plain, n, root, false, sumFloats{}, vector())
		if err != nil {
			return err
		}
		got, err := reduce.try(c, n, root, false, late, vector())
		ahead.CompareAndSwap(false, c.Rank() == 1)
		if err == nil && !bytes.Equal(got, want) {
			err = errors.New("not as by messages")
		}
		if err == nil {
			_, err = bcast.try(c, shmcoll.Chunks*shmcoll.ChunkBytes/8, 1, false, nil, vector())
		}
		return err
	}, "GOLCI_COLLECTIVES", "memory", "GOLCI_CHECK", "off")
}

// seedOf is the seed of a test, from GOLCI_TEST_SEED or by chance. A test that fails tells it.
func seedOf(t *testing.T) uint64 {
	seed, err := strconv.ParseUint(os.Getenv("GOLCI_TEST_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with GOLCI_TEST_SEED=%d", seed)
		}
	})
	return seed
}

// TestNodes: what a rank knows of nodes.
func TestNodes(t *testing.T) {
	for _, x := range []struct {
		all            []uint64
		rank           int
		ranks, leaders []int
		blocks, halves bool
		worth          bool
	}{
		{[]uint64{5, 5}, 1, []int{0, 1}, nil, true, false, true},
		{[]uint64{5, 6}, 1, []int{1}, []int{0, 1}, true, true, false},
		{[]uint64{5, 5, 6, 6}, 2, []int{2, 3}, []int{0, 2}, true, true, true},
		{[]uint64{5, 6, 5, 6}, 2, []int{0, 2}, []int{0, 1}, false, false, true},
		{[]uint64{5, 5, 5, 6}, 3, []int{3}, []int{0, 3}, true, false, true},
		{[]uint64{5, 5, 6, 6, 7, 7}, 0, []int{0, 1}, []int{0, 2, 4}, true, false, true},
		{[]uint64{5, 5, 5, 6, 6, 6}, 0, []int{0, 1, 2}, []int{0, 3}, true, false, true},
	} {
		on := nodesOf(x.all, x.rank)
		if !slices.Equal(on.ranks, x.ranks) || !slices.Equal(on.leaders, x.leaders) || on.blocks != x.blocks ||
			on.halves != x.halves || on.worth() != x.worth || on.ranks[on.me] != x.rank {
			t.Errorf("rank %d of %v: %+v, worth %t", x.rank, x.all, on, on.worth())
		}
	}
	if on := nodesOf(make([]uint64, shmcoll.MaxRanks+1), 0); on.worth() {
		t.Error("a shared segment of too many ranks")
	}
}

// TestShmComesBack: the memory of a shared segment goes to a later one when all ranks have freed the communicator.
func TestShmComesBack(t *testing.T) {
	run(t, 2, func(c *testComm) error {
		for i := range 30 {
			d, err := c.Dup()
			if err != nil {
				return err
			}
			for range shmFrom + 2 {
				if err := d.Barrier(); err != nil {
					return err
				}
			}
			if d.shared.b == nil {
				return errors.New("there is no shared segment")
			}
			if err := errors.Join(d.Free(), c.Barrier()); err != nil {
				return err
			}
			if i > 3 && c.Rank() == 0 {
				pieces := c.r.arena.CountFree()
				if pieces > 2 {
					return fmt.Errorf("%d pieces of memory", pieces)
				}
			}
		}
		return nil
	}, "GOLCI_COLLECTIVES", "memory")
}

// TestShmSetting: GOLCI_COLLECTIVES says whether there are shared segments.
func TestShmSetting(t *testing.T) {
	for setting, want := range map[string]bool{"memory": true, "messages": false} {
		run(t, 2, func(c *testComm) error {
			for range shmFrom {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			if got := c.shared.b != nil; got != want {
				return fmt.Errorf("%s: there is a shared segment: %t", setting, got)
			}
			return nil
		}, "GOLCI_COLLECTIVES", setting)
	}
}
