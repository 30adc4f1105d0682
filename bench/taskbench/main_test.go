package taskbench

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// random is seeded by GOLCI_TEST_SEED, or by chance, and tells its seed when the test fails.
func random(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("GOLCI_TEST_SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("replay with GOLCI_TEST_SEED=%d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

// graphs has one of each type, and more where windows and sets differ.
func graphs() (list []Graph) {
	for _, typ := range Types() {
		list = append(list, Graph{Type: typ, Steps: 9, Width: 4, Radix: 3, Payload: 16})
	}
	for _, g := range []Graph{
		{Type: Dom, Steps: 3, Width: 6},
		{Type: Dom, Steps: 12, Width: 6},
		{Type: Tree, Steps: 6, Width: 13},
		{Type: FFT, Steps: 8, Width: 7},
		{Type: Nearest, Steps: 6, Width: 7, Radix: 0},
		{Type: Nearest, Steps: 6, Width: 7, Radix: 6},
		{Type: Spread, Steps: 7, Width: 12, Radix: 4, Period: 3},
		{Type: RandomNearest, Steps: 8, Width: 9, Radix: 5, Fraction: 0.5, Index: 3},
		{Type: Stencil1D, Steps: 1, Width: 1},
		{Type: AllToAll, Steps: 5, Width: 11},
	} {
		g.Payload = 48
		list = append(list, g)
	}
	for i := range list {
		if list[i].Type == Spread && list[i].Period == 0 {
			list[i].Radix, list[i].Period = 2, 2
		}
	}
	return list
}

func plan(t testing.TB, g Graph) *Plan {
	t.Helper()
	p, err := NewPlan(g)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// arbitrary is a graph by chance, which may be refused.
func arbitrary(r *rand.Rand) Graph {
	return Graph{
		Type: Type(r.IntN(int(types))), Steps: 1 + r.IntN(12), Width: 1 + r.IntN(17), Radix: r.IntN(7), Period: 0,
		Fraction: r.Float64(), Index: r.IntN(5), Payload: 16,
	}
}
