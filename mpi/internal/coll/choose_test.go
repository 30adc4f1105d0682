package coll

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
)

// TestScanChoices: the choice of a scan changes at its limit, and only there.
func TestScanChoices(t *testing.T) {
	for i, x := range []struct{ got, want any }{
		{scanAlgorithm(&inclusive, algorithm.ReduceSegment), algorithm.Scan},
		{scanAlgorithm(&inclusive, algorithm.ReduceSegment+1), algorithm.ScanParts},
		{scanAlgorithm(&exclusive, algorithm.ReduceSegment), algorithm.Exscan},
		{scanAlgorithm(&exclusive, algorithm.ReduceSegment+1), algorithm.ExscanParts},
	} {
		if x.got != x.want {
			t.Errorf("choice %d: %v, want %v", i, x.got, x.want)
		}
	}
}

// collectives are calls of n bytes, or of so many for each of p ranks.
var collectives = map[string]func(x *Call, n, p int) error{
	"Barrier":   func(x *Call, _, _ int) error { return x.chooseBarrier() },
	"Bcast":     func(x *Call, n, _ int) error { return x.with(0, n).chooseBcast(0) },
	"Reduce":    func(x *Call, n, _ int) error { return x.with(n, n).chooseReduce(0) },
	"Allreduce": func(x *Call, n, _ int) error { return x.with(n, n).chooseAllreduce() },
	"Scan":      func(x *Call, n, _ int) error { return x.with(n, n).chooseScan(&inclusive, true) },
	"Exscan":    func(x *Call, n, _ int) error { return x.with(n, n).chooseScan(&exclusive, x.rank > 0) },
	"Gather":    func(x *Call, n, p int) error { return x.with(n, n*p).chooseEqualParts(&gathering, 0) },
	"Scatter":   func(x *Call, n, p int) error { return x.with(n*p, n).chooseEqualParts(&scattering, 0) },
	"Allgather": func(x *Call, n, p int) error { return x.with(n, n*p).chooseAllgather() },
	"Alltoall":  func(x *Call, n, p int) error { return x.with(n*p, n*p).chooseAlltoall() },
	"Block":     func(x *Call, n, p int) error { return x.with(n*p, n).chooseReduceScatterBlock() },
	"Gatherv":   func(x *Call, n, p int) error { return x.with(n, n*p).chooseGivenParts(&gathering, lens(n, p), 0) },
	"Scatterv":  func(x *Call, n, p int) error { return x.with(n*p, n).chooseGivenParts(&scattering, lens(n, p), 0) },
	"Allgatherv": func(x *Call, n, p int) error {
		return x.with(n, n*p).chooseAllgatherv(lens(n, p))
	},
	"Alltoallv": func(x *Call, n, p int) error {
		return x.with(n*p, n*p).chooseAlltoallv(lens(n, p), lens(n, p))
	},
	"ReduceScatter": func(x *Call, n, p int) error { return x.with(n*p, n).chooseReduceScatter(lens(n, p)) },
}

func lens(n, p int) *argument.Parts {
	out := make([]int, p)
	for i := range out {
		out[i] = n
	}
	return &argument.Parts{Counts: out}
}

// with gives the call buffers of so many bytes.
func (x *Call) with(in, out int) *Call {
	a, b := make([]byte, in+1), make([]byte, out+1)
	x.setBuffers(unsafe.Pointer(&a[0]), in, unsafe.Pointer(&b[0]), out, 1)
	x.op = argument.Operator{Combiner: argument.And{}, Commutes: true}
	return x
}

// TestAlgorithms: all ways but those of numbers are taken. A rank sends another several messages with one tag only
// where the way says so, and in each such way some rank does.
func TestAlgorithms(t *testing.T) {
	taken, several := map[algorithm.Algorithm]bool{}, map[algorithm.Algorithm]bool{}
	for _, p := range []int{1, 2, 3, 4, 7, 16, 17} {
		for name, call := range collectives {
			for _, n := range []int{0, 1, 40_000, 600_000} {
				if n > 1<<19 && p > 4 {
					continue // the memory
				}
				for rank := range p {
					x := &Call{
						st:   &State{Env: Env{OfRank: new(RankState)}, size: p, numbers: uint8(algorithm.NumberBits(p))},
						rank: rank, size: p, call: 5,
					}
					if err := call(x, n, p); err != nil {
						t.Fatalf("%s of %d ranks: %v", name, p, err)
					}
					noteMessages(t, x, taken, several)
				}
			}
		}
	}
	for w := algorithm.Barrier; w < algorithm.NearAllgather; w++ { // neighbours may be the same rank
		// The ends share what the call says.
		ends := w == algorithm.ReduceEnd || w == algorithm.ScanEnd || w == algorithm.ExscanEnd
		if !taken[w] || several[w] != (w.Repeats() && !ends) || ends && !w.Repeats() {
			t.Errorf("%v (%d): taken %v, several messages of one tag %v, may repeat %v", w, w, taken[w], several[w],
				w.Repeats())
		}
	}
}

func noteMessages(t *testing.T, x *Call, taken, several map[algorithm.Algorithm]bool) {
	t.Helper()
	taken[x.alg], taken[algorithm.OfTag(x.lastTag)] = true, true
	seen := map[string]bool{}
	for i := range x.steps.Steps {
		st := &x.steps.Steps[i]
		if st.Kind != schedule.Send && st.Kind != schedule.Recv {
			continue
		}
		k := fmt.Sprint(st.Kind, st.Peer, x.tagOf(st))
		if seen[k] {
			several[algorithm.OfTag(x.tagOf(st))] = true
			if x.once {
				t.Fatalf("%v, rank %d of %d: two messages of one tag, peer %d", x.alg, x.rank, x.size, st.Peer)
			}
		}
		seen[k] = true
	}
}
