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
		if back, err := ParseMapping(got, len(nodes)); err != nil || !slices.Equal(back, nodes) {
			t.Errorf("%s: %v, %v", got, back, err)
		}
	}
}
