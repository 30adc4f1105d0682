package topo

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Traffic is how much pairs of ranks have to say to each other, in both directions together.
type Traffic struct {
	first []int // the links of rank r are those from first[r] to first[r+1]
	links []link
}

type link struct {
	to     int
	weight int64
}

// NewTraffic is the sum of edges between so many ranks. Those from a rank to itself do not count. errs.Rank: an edge
// ends at no rank.
func NewTraffic(ranks int, edges []Edge) (*Traffic, error) {
	each := make([][]link, ranks)
	for i, e := range edges {
		if min(e.From, e.To) < 0 || max(e.From, e.To) >= ranks {
			return nil, fmt.Errorf("%w: edge %d from %d to %d of %d ranks", errs.Rank, i, e.From, e.To, ranks)
		}
		if e.From != e.To {
			each[e.From] = append(each[e.From], link{e.To, int64(e.Weight)})
			each[e.To] = append(each[e.To], link{e.From, int64(e.Weight)})
		}
	}
	t := &Traffic{first: make([]int, 1, ranks+1)}
	for _, list := range each {
		t.links = append(t.links, merged(list)...)
		t.first = append(t.first, len(t.links))
	}
	return t, nil
}

// merged has each rank once.
func merged(list []link) (out []link) {
	slices.SortFunc(list, func(a, b link) int { return a.to - b.to })
	for _, l := range list {
		if n := len(out); n > 0 && out[n-1].to == l.to {
			out[n-1].weight += l.weight
		} else {
			out = append(out, l)
		}
	}
	return out
}

// countRanks is the number of ranks.
func (t *Traffic) countRanks() int { return len(t.first) - 1 }

func (t *Traffic) linksOf(rank int) []link { return t.links[t.first[rank]:t.first[rank+1]] }

// between is the weight between two ranks.
func (t *Traffic) between(a, b int) int64 {
	list := t.linksOf(a)
	i, ok := slices.BinarySearchFunc(list, b, func(l link, to int) int { return l.to - to })
	if !ok {
		return 0
	}
	return list[i].weight
}

// cutTraffic is the weight between ranks on different nodes, if rank r is at process place[r] and process p on node
// nodes[p].
func (t *Traffic) cutTraffic(nodes, place []int) int64 {
	part := make([]int, t.countRanks())
	for r := range part {
		part[r] = nodes[place[r]]
	}
	return t.cutWeight(part)
}

// cutWeight is the weight between ranks with different parts.
func (t *Traffic) cutWeight(part []int) (sum int64) {
	for r, p := range part {
		for _, l := range t.linksOf(r) {
			if r < l.to && part[l.to] != p {
				sum += l.weight
			}
		}
	}
	return sum
}
