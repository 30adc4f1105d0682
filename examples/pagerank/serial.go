package main

import (
	"math"
	"slices"
)

// serialRank is the plain solution for comparison, on one core and without messages. It pushes scores along the
// edges; the parallel one pulls. It returns the scores by number of the vertex.
func serialRank(edges []edge, r rule) (directory, []float64, error) {
	d := endpoints(edges)
	if err := d.check(); err != nil {
		return nil, nil, err
	}
	links := linksOf(d, edges)
	degree := make([]float64, len(d))
	for _, l := range links {
		degree[l.from]++
	}
	n := float64(len(d))
	scores, next := make([]float64, len(d)), make([]float64, len(d))
	for v := range scores {
		scores[v] = 1 / n
	}
	change := math.Inf(1)
	for k := 0; k < r.iterations && change >= r.tolerance; k++ {
		push(links, degree, scores, next, r.damping)
		change = 0
		for v := range scores {
			change += math.Abs(next[v] - scores[v])
		}
		scores, next = next, scores
	}
	return d, scores, nil
}

type link struct{ from, to uint32 }

// linksOf translates edges to numbers, in order of the sources and without repetitions.
func linksOf(d directory, edges []edge) []link {
	number, packed := d.numbers(), make([]uint64, len(edges))
	for i, e := range edges {
		packed[i] = uint64(number(e.From))<<32 | uint64(number(e.To))
	}
	slices.Sort(packed)
	packed = slices.Compact(packed)
	links := make([]link, len(packed))
	for i, p := range packed {
		links[i] = link{from: uint32(p >> 32), to: uint32(p)}
	}
	return links
}

// push is one iteration, from scores to next.
func push(links []link, degree, scores, next []float64, damping float64) {
	n, dangling := float64(len(scores)), 0.0
	for v, s := range scores {
		if degree[v] == 0 {
			dangling += s
		}
	}
	for v := range next {
		next[v] = (1-damping)/n + damping*dangling/n
	}
	for _, l := range links {
		next[l.to] += damping * scores[l.from] / degree[l.from]
	}
}
