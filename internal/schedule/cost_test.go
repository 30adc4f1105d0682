package schedule

import (
	"math/rand/v2"
	"testing"
)

// cost is what docs/design/mpi-collectives.md says of an algorithm.
type cost struct {
	chain    int // the most messages of which each is caused by the one before
	messages int // the most that a rank sends
	bytes    int // the same
}

// costs of a builder for p ranks. n is the length of a part, N that of a vector. The power is the largest one of two up
// to p, floor its logarithm, ceil the rounds to reach p; odd is 1 if p is no power of two. ends is how many messages of
// pairs are in one chain with a message of each round: 2 if most numbers are pairs.
type terms struct{ p, n, N, power, floor, ceil, odd, ends int }

var costs = map[string]func(t terms) cost{
	"Barrier":        func(t terms) cost { return cost{t.ceil, t.ceil, 0} },
	"BcastTree":      func(t terms) cost { return cost{t.floor, t.ceil, t.n * t.ceil} },
	"BcastRing":      func(t terms) cost { return cost{t.p, 2 * (t.p - 1), 2 * t.n / t.p * (t.p - 1)} },
	"GatherAll":      func(t terms) cost { return cost{1, 1, t.n} },
	"Gatherv":        func(t terms) cost { return cost{1, 1, t.n} },
	"ScatterAll":     func(t terms) cost { return cost{1, t.p - 1, t.n * (t.p - 1)} },
	"GatherTree":     func(t terms) cost { return cost{t.floor, 1, t.n * t.below()} },
	"ScatterTree":    func(t terms) cost { return cost{t.floor, t.ceil, t.n * (t.p - 1)} },
	"AllgatherSteps": func(t terms) cost { return cost{t.ceil, t.ceil, t.n * (t.p - 1)} },
	"AllgatherRing":  func(t terms) cost { return cost{t.p - 1, t.p - 1, t.n * (t.p - 1)} },
	"AlltoallAll":    func(t terms) cost { return cost{1, t.p - 1, t.n * (t.p - 1)} },
	"AlltoallPairs":  func(t terms) cost { return cost{t.p - 1, t.p - 1, t.n * (t.p - 1)} },
	"AlltoallBruck":  func(t terms) cost { return cost{t.ceil, t.ceil, t.n * t.ones()} },
	"ReduceTree":     func(t terms) cost { return cost{t.floor, 1, t.N} },
	"AllreduceDoubling": func(t terms) cost {
		return cost{t.floor + t.ends, t.floor + t.odd, t.N * (t.floor + t.odd)}
	},
	"AllreduceShares":     func(t terms) cost { return cost{t.p, 2 * (t.p - 1), 2 * t.N / t.p * (t.p - 1)} },
	"ReduceScatterShares": func(t terms) cost { return cost{1, t.p - 1, t.N / t.p * (t.p - 1)} },
	"ReduceScatterHalving": func(t terms) cost {
		return cost{t.floor + t.ends, t.floor + t.odd, max(t.N/t.p*(t.p-1), t.N*t.odd)}
	},
	"Scan": func(t terms) cost { return cost{t.floor, t.ceil, t.N * t.ceil} },
	"Exscan": func(t terms) cost {
		below, k := termsOf(t.p-1, t.n, t.N), 1+roundsFor(t.p-1)
		return cost{1 + below.floor, k, t.N * k}
	},
	"AllgathervSteps of equal parts": func(t terms) cost { return cost{t.ceil, t.ceil, t.n * (t.p - 1)} },
	"InterBarrier":                   func(t terms) cost { return cost{t.ceil, t.ceil, 0} },
	"InterBcast": func(t terms) cost {
		return cost{t.half().floor + 1, max(1, t.half().ceil), t.n * max(1, t.half().ceil)}
	},
	"InterReduce": func(t terms) cost { return cost{t.half().floor + 1, 1, t.N} },
	"InterAllreduce": func(t terms) cost {
		return cost{2*t.half().floor + 1, 1 + t.half().ceil, t.N * (1 + t.half().ceil)}
	},
	"InterReduceScatter": func(t terms) cost {
		return cost{t.half().floor + 1 + min(1, t.half().floor), t.half().p, t.N + t.N - t.N/t.half().p}
	},
	"InterGather":  func(t terms) cost { return cost{1, 1, t.n} },
	"InterScatter": func(t terms) cost { return cost{1, t.half().p, t.n * t.half().p} },
	"InterAllgather": func(t terms) cost {
		return cost{2*t.half().floor + 1, 1 + t.half().ceil, t.n * t.half().p * (1 + t.half().ceil)}
	},
	"InterAllgatherv": func(t terms) cost {
		return cost{t.half().floor + 1, 1 + t.half().ceil, t.n * (1 + t.half().p*t.half().ceil)}
	},
	"InterAlltoall": func(t terms) cost { return cost{t.half().p, t.half().p, t.n * t.half().p} },
}

func termsOf(p, n, vector int) terms {
	power, extra := powerIn(p)
	t := terms{p, n, vector, power, roundsFor(power), roundsFor(p), min(extra, 1), min(extra, 1)}
	if extra > power/2 {
		t.ends = 2
	}
	return t
}

// half is of one of two groups.
func (t terms) half() terms { return termsOf(t.p/2, t.n, t.N) }

// below is the largest number of ranks in a branch of the binomial tree below root.
func (t terms) below() int {
	top := 1 << (t.ceil - 1)
	return max(t.p-top, top/2)
}

// ones is how many bits are set in all numbers below p.
func (t terms) ones() (n int) {
	for i := range t.p {
		for ; i > 0; i &= i - 1 {
			n++
		}
	}
	return n
}

// costCall is a call with equal parts, whole vectors and root 0. Of two groups each is a half.
func costCall(p int) call {
	c := newCall(rand.New(rand.NewPCG(1, uint64(p))), p)
	power, _ := powerIn(p)
	c.root, c.n, c.elems, c.inPlace, c.first, c.plain = 0, 4*p, p*power, false, p/2, true
	for i := range p {
		c.counts[i], c.displs[i] = c.n, i*c.n
		c.blocks[i], c.starts[i] = elemSize*power, i*elemSize*power
	}
	c.room = p * c.n
	return c
}

// costOf runs a call, and counts.
func costOf(t *testing.T, a algorithm, c call) (got cost) {
	t.Helper()
	x := a.sim(c, rand.New(rand.NewPCG(2, 3)))
	if err := x.run(); err != nil {
		t.Fatal(err)
	}
	for _, n := range x.nodes {
		messages, bytes := 0, 0
		for i := range n.s.Steps {
			got.chain = max(got.chain, n.over[i])
			if st := &n.s.Steps[i]; st.Kind == Send {
				messages, bytes = messages+1, bytes+st.Len
			}
		}
		got.messages, got.bytes = max(got.messages, messages), max(got.bytes, bytes)
	}
	return got
}

// inOne has every vector be one message.
func (c call) inOne() call {
	c.segment = 1 << 30
	return c
}

// TestCosts: the messages and bytes of each algorithm are those that docs/design/mpi-collectives.md gives.
func TestCosts(t *testing.T) {
	seen := 0
	for _, a := range algorithms() {
		want, ok := costs[a.name]
		if !ok {
			continue
		}
		seen++
		for _, p := range []int{2, 4, 6, 8, 10, 12, 14, 16, 18, 32, 34, 3, 5, 7, 9, 11, 13, 15, 17, 31, 33} {
			if p%2 == 1 && len(a.name) > 5 && a.name[:5] == "Inter" {
				continue // there are no halves
			}
			c := costCall(p).inOne()
			if got, want := costOf(t, a, c), want(termsOf(p, c.n, c.vector())); got != want {
				t.Errorf("%s of %d ranks: %+v, want %+v", a.name, p, got, want)
			}
		}
	}
	if seen != len(costs) {
		t.Errorf("%d of %d algorithms were found", seen, len(costs))
	}
}

// TestSegments: a long vector is sent in segments, all of which but the last have the length of one.
func TestSegments(t *testing.T) {
	for _, name := range []string{"ReduceTree", "Scan", "InterReduce"} {
		for _, a := range algorithms() {
			if a.name != name {
				continue
			}
			c := costCall(8)
			whole, parts := costOf(t, a, c.inOne()), costOf(t, a, c)
			if parts.bytes != whole.bytes || parts.messages != whole.messages*c.lengths().segments() {
				t.Errorf("%s: %+v whole, %+v in segments", name, whole, parts)
			}
		}
	}
}
