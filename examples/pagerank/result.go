package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/golci/golci/mpi"
)

type ranked struct {
	ID    uint64
	Score float64
}

// better orders by score, the best first, and equal ones by id.
func better(a, b ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ID, b.ID))
}

// best is the first n of all vertices. It is collective, and waits.
func (s *solver) best(d directory, n int) ([]ranked, error) {
	mine := make([]ranked, len(s.scores))
	for v, score := range s.scores {
		mine[v] = ranked{ID: d[s.first+v], Score: score}
	}
	slices.SortFunc(mine, better)
	all, _, err := mpi.AllgathervAlloc(s.c, mine[:min(n, len(mine))])
	slices.SortFunc(all, better)
	return all[:min(n, len(all))], err
}

// gather is the scores of all vertices, at rank 0. It is collective, and waits.
func (s *solver) gather() ([]float64, error) {
	var all []float64
	if s.rank == 0 {
		all = make([]float64, s.vertices)
	}
	return all, mpi.Gatherv(s.c, s.scores, all, s.counts(), nil, 0)
}

// edges is the number of edges of the whole graph. It is collective, and waits.
func (s *solver) edges() (int, error) {
	return mpi.AllreduceOne(s.c, len(s.sources), mpi.Sum)
}

// equalTo is how far apart serial and parallel scores may be: the sum of all differences.
const equalTo = 1e-9

// compare solves the graph serially and returns the sum of the differences, which is an error from equalTo on.
func compare(in input, r rule, d directory, scores []float64) (float64, error) {
	edges, err := in.Share(0, 1)
	if err != nil {
		return 0, err
	}
	ids, want, err := serialRank(edges, r)
	if err != nil {
		return 0, err
	}
	if !slices.Equal(ids, d) {
		return 0, fmt.Errorf("a serial run finds %d vertices, the job %d, or others", len(ids), len(d))
	}
	sum, worst := 0.0, 0
	for v := range want {
		sum += math.Abs(scores[v] - want[v])
		if math.Abs(scores[v]-want[v]) > math.Abs(scores[worst]-want[worst]) {
			worst = v
		}
	}
	if !(sum < equalTo) {
		return sum, fmt.Errorf("not equal to a serial run: the differences sum up to %.3g; vertex %d has %.12f, serially %.12f",
			sum, d[worst], scores[worst], want[worst])
	}
	return sum, nil
}
