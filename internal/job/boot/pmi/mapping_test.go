package pmi

import (
	"slices"
	"testing"
)

// TestFormatMapping: what is written is what is meant, and ParseMapping reads it back.
func TestFormatMapping(t *testing.T) {
	for want, counts := range map[string][]int{
		"(vector,(0,1,4))":                 {4},
		"(vector,(0,3,2))":                 {2, 2, 2},
		"(vector,(0,1,4),(1,2,1))":         {4, 1, 1},
		"(vector,(0,1,1),(1,1,2),(2,1,1))": {1, 2, 1},
	} {
		got := FormatMapping(counts)
		if got != want {
			t.Errorf("%v: %s, want %s", counts, got, want)
		}
		var nodes []int
		for n, c := range counts {
			for range c {
				nodes = append(nodes, n)
			}
		}
		if back, err := nodesOf(got, len(nodes)); err != nil || !slices.Equal(back, nodes) {
			t.Errorf("%s: %v, %v", got, back, err)
		}
	}
}

// nodesOf is the node of each rank; nil for a text that maps none.
func nodesOf(text string, size int) (nodes []int, err error) {
	m, err := ParseMapping(text, size)
	if err != nil || m == nil {
		return nil, err
	}
	for r := range size {
		nodes = append(nodes, m.Node(r))
	}
	return nodes, nil
}

// checkMates compares the mates of each rank with what its node says.
func checkMates(t *testing.T, text string, size int) {
	t.Helper()
	m, err := ParseMapping(text, size)
	if err != nil || m == nil {
		return
	}
	for rank := range size {
		var want []int
		for r := range size {
			if m.Node(r) == m.Node(rank) {
				want = append(want, r)
			}
		}
		got := slices.Clone(m.Mates(rank))
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s, %d ranks: mates %v of rank %d, want %v", text, size, got, rank, want)
		}
		if !slices.Equal(got, m.Mates(rank)) {
			t.Fatalf("%s: mates %v are not ascending", text, m.Mates(rank))
		}
	}
}

// TestMates: in blocks that repeat, share nodes, or are cut off by the end of the job.
func TestMates(t *testing.T) {
	for _, text := range []string{
		"(vector,(0,1,4))", "(vector,(0,3,2))", "(vector,(0,1,4),(1,2,1))", "(vector,(0,2,1),(1,2,2))",
		"(vector,(0,0,3),(5,1,1))",
	} {
		for size := 1; size < 20; size++ {
			checkMates(t, text, size)
		}
	}
}
