package reservation

import (
	"fmt"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/test/explore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestExplore follows small jobs through every order of calls, messages, losses and news of a death. Modes are never
// mixed among holders, the payload is coherent, nobody waits at rest, and only a death that matters refuses anybody.
func TestExplore(t *testing.T) {
	const x, s, v = Exclusive, 1, 2
	small := []plan{
		{acquires: [][]Mode{{x, x}, {x, x}}},
		{acquires: [][]Mode{{x, s}, {s, x}}},
		{acquires: [][]Mode{{x}, {x}, {x}}},
		{acquires: [][]Mode{{x, s}, {s, v}}, carry: 1},
		{acquires: [][]Mode{{}, {x, x}, {x}}, carry: 1},
		{acquires: [][]Mode{{x}, {s}, {s}}, foreign: true},
		{acquires: [][]Mode{{s, x}, {s}, {}}},
	}
	large := []plan{
		{acquires: [][]Mode{{s, x}, {s}, {s}}, carry: 1},
		{acquires: [][]Mode{{x}, {x, x}, {x}}, once: true},
		{acquires: [][]Mode{{s}, {x}}, foreign: true},
	}
	if !testing.Short() {
		small = append(small, large...)
	}
	sample, n := explore.NewSample(3), 0
	t.Log(sample)
	for _, p := range small {
		for _, q := range variants(p) {
			if n++; sample.Has(n) {
				t.Run(fmt.Sprintf("%+v", q), func(t *testing.T) { explored(t, q) })
			}
		}
	}
}

// TestExploreTwoEach has three ranks that acquire twice each.
func TestExploreTwoEach(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	const x, s = Exclusive, 1
	sample := explore.NewSample(2)
	t.Log(sample)
	for i, p := range []plan{
		{acquires: [][]Mode{{x, x}, {x, x}, {x, x}}},
		{acquires: [][]Mode{{s, x}, {x, s}, {s, s}}, carry: 1},
	} {
		if !sample.Has(i) {
			continue
		}
		p.once, p.turns, p.destroys = true, 1, -1
		t.Run(fmt.Sprintf("%+v", p), func(t *testing.T) { explored(t, p) })
	}
}

// TestExploreTwoDeaths has two ranks of three die.
func TestExploreTwoDeaths(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a quarter of a minute")
	}
	p := plan{acquires: [][]Mode{{Exclusive}, {Exclusive}, {Exclusive}}, dies: []int{1, 2}, turns: 1, destroys: -1}
	explored(t, p)
}

func explored(t *testing.T, p plan) {
	r, err := explore.All(newWorld(p), 3_000_000)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %d rests", r.States, r.Rests)
}

// variants has the plan as it is, with a destroy, and with a death of each rank.
func variants(p plan) (all []plan) {
	p.turns, p.destroys = 1, -1
	all = append(all, p)
	p.destroys = 1
	all = append(all, p)
	p.destroys = -1
	for r := range p.acquires {
		p.dies = []int{r}
		all = append(all, p)
	}
	return all
}
