// Package graph is what the example programs about graphs share: edges, random graphs, and dealing items out to ranks.
package graph

import "github.com/golci/golci/mpi"

// Edge is a link between two vertices, by ids that need not be dense.
type Edge struct{ From, To uint64 }

// Cut is where part i of parts equal parts of n begins.
func Cut(n int64, i, parts int) int64 {
	return n/int64(parts)*int64(i) + n%int64(parts)*int64(i)/int64(parts)
}

// Deal sends each item to the rank that to says. It returns what has come, by sender, and how many items each has sent;
// items of one sender keep their order. It is collective, and waits.
func Deal[T any](c *mpi.Comm, items []T, to func(T) int) (got []T, from []int, err error) {
	counts := make([]int, c.Size())
	for _, x := range items {
		counts[to(x)]++
	}
	next := make([]int, c.Size())
	for r := 1; r < len(next); r++ {
		next[r] = next[r-1] + counts[r-1]
	}
	sorted := make([]T, len(items))
	for _, x := range items {
		r := to(x)
		sorted[next[r]] = x
		next[r]++
	}
	from = make([]int, c.Size())
	if err := mpi.Alltoall(c, counts, from); err != nil {
		return nil, nil, err
	}
	total := 0
	for _, n := range from {
		total += n
	}
	got = make([]T, total)
	return got, from, mpi.Alltoallv(c, sorted, counts, nil, got, from, nil)
}
