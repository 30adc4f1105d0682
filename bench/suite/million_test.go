package suite

import (
	"slices"
	"strings"
	"testing"
)

// TestMillionIsAskedFor: all leaves it out, and its ranks get the workers it is defined with.
func TestMillionIsAskedFor(t *testing.T) {
	every, err := choose(Config{Names: []string{"all"}, N: 2})
	if err != nil || len(every) != len(specs)-13 || slices.ContainsFunc(every,
		func(s spec) bool { return s.name == "million" }) {
		t.Errorf("all stands for %+v, error %v", every, err)
	}
	named, err := choose(Config{Names: []string{"million"}, N: 2, Threads: []int{20}})
	if err != nil || len(named) != 1 || !slices.Equal(named[0].threads, []int{20}) {
		t.Fatalf("chosen %+v, error %v", named, err)
	}
	r := &runner{Config: Config{Self: "golci", N: 2}}
	got := strings.Join(r.ranks(named[0], nil, []int{20}), " ")
	if want := "golci run -n 2 -env GOLCI_WORKERS=2 golci bench million -sizes 8 -threads 20 -duration "; !strings.HasPrefix(got, want) {
		t.Errorf("arguments %q, want %q", got, want)
	}
}
