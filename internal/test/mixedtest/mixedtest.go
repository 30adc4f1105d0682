// Package mixedtest makes jobs of mixed conduits out of conduits that join ranks of one process; tests import it.
package mixedtest

import (
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/mixed"
)

// Together tells whether ranks a and b are on one node; it says the same of b and a.
type Together func(a, b int) bool

// Node lists the ranks of a job of n that are on rank's node.
func (f Together) Node(rank, n int) (ranks []int) {
	for r := range n {
		if f(rank, r) {
			ranks = append(ranks, r)
		}
	}
	return ranks
}

// The ways to part a job.
var (
	AllNear Together = func(int, int) bool { return true }
	AllFar  Together = func(int, int) bool { return false }
	// Parity has the even ranks on one node and the odd ones on another.
	Parity Together = func(a, b int) bool { return a&1 == b&1 }
	// Twos has two ranks on each node.
	Twos Together = func(a, b int) bool { return a/2 == b/2 }
)

// Join makes the mixed conduits of a job, by rank, of its near and its far conduits, which need no bell.
func Join(t testing.TB, near, far []conduit.Conduit, together Together) []conduit.Conduit {
	t.Helper()
	cs := make([]conduit.Conduit, len(near))
	for i := range cs {
		var err error
		if cs[i], err = mixed.New(near[i], WithBell(far[i]), func(peer int) bool { return together(i, peer) }); err != nil {
			t.Fatal(err)
		}
	}
	return cs
}

// Local makes a job of n ranks in which both ways are local conduits made by cfg. wrap, if it is not nil, is laid
// around the far ones.
func Local(t testing.TB, n int, cfg conduit.Config, together Together, wrap func(conduit.Conduit) conduit.Conduit) []conduit.Conduit {
	t.Helper()
	var pair [2][]conduit.Conduit
	for i := range pair {
		var err error
		if pair[i], err = local.New(n, cfg); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range pair[1] {
		if wrap != nil {
			pair[1][i] = wrap(c)
		}
	}
	return Join(t, pair[0], pair[1], together)
}
