package topo

import (
	"math"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/golci/golci/mpi/internal/errs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// factorings calls f with all lists of k factors of n that do not increase and are at most high.
func factorings(n, k, high int, head []int, f func([]int)) {
	if k == 0 {
		if n == 1 {
			f(head)
		}
		return
	}
	for d := 1; d <= min(n, high); d++ {
		if n%d == 0 {
			factorings(n/d, k-1, d, append(head, d), f)
		}
	}
}

// better tells whether a list of factors is to be preferred.
func better(a, b []int) bool {
	k := len(a) - 1
	if x, y := a[0]-a[k], b[0]-b[k]; x != y {
		return x < y
	}
	for ; a[k] == b[k] && k > 0; k-- {
		continue
	}
	return a[k] > b[k]
}

// TestDimsBruteForce compares with the best of all factorings.
func TestDimsBruteForce(t *testing.T) {
	most := 1024
	if testing.Short() {
		most = 256
	}
	for n := 1; n <= most; n++ {
		for k := 1; k <= 6; k++ {
			var best []int
			factorings(n, k, n, nil, func(list []int) {
				if best == nil || better(list, best) {
					best = slices.Clone(list)
				}
			})
			dims := make([]int, k)
			if err := DimsCreate(n, dims); err != nil || !slices.Equal(dims, best) {
				t.Errorf("%d in %d dimensions: %v, %v; want %v", n, k, dims, err, best)
			}
		}
	}
}

// TestDimsGiven has dimensions that are given, and what is wrong with them.
func TestDimsGiven(t *testing.T) {
	for _, c := range []struct {
		nodes      int
		dims, want []int
		class      errs.Class
	}{
		{1, nil, nil, 0},
		{2, nil, nil, errs.Dims},
		{6, []int{0, 0}, []int{3, 2}, 0},
		{7, []int{0, 0}, []int{7, 1}, 0},
		{6, []int{0, 3, 0}, []int{2, 3, 1}, 0},
		{7, []int{0, 3, 0}, nil, errs.Dims},
		{12, []int{0, 2, 0, 1, 0}, []int{3, 2, 2, 1, 1}, 0},
		{6, []int{3, 2}, []int{3, 2}, 0},
		{6, []int{3, 1}, nil, errs.Dims},
		{6, []int{6, 6}, nil, errs.Dims},
		{6, []int{6, 0}, []int{6, 1}, 0},
		{6, []int{-1, 0}, nil, errs.Dims},
		{0, []int{0}, nil, errs.Arg},
		{-4, []int{0}, nil, errs.Arg},
		{math.MaxInt32 + 1, []int{0}, nil, errs.Arg},
		{807840, []int{0, 0, 0}, []int{102, 90, 88}, 0},
		{98784, []int{0, 0, 0, 0, 0}, []int{14, 14, 9, 8, 7}, 0},
		{math.MaxInt32, []int{0, 0}, []int{math.MaxInt32, 1}, 0},
		{1 << 30, []int{math.MaxInt, 0}, nil, errs.Dims},
	} {
		dims := slices.Clone(c.dims)
		err := DimsCreate(c.nodes, dims)
		if errs.Of(err) != c.class || err == nil && !slices.Equal(dims, c.want) ||
			err != nil && !slices.Equal(dims, c.dims) {
			t.Errorf("%d nodes in %v: %v, %v", c.nodes, c.dims, dims, err)
		}
	}
}

// TestDimsLarge has numbers with many divisors, in many dimensions.
func TestDimsLarge(t *testing.T) {
	for _, n := range []int{1_000_000_000, 1 << 30, 735_134_400, 2_095_133_040, 510_510 * 4_096, 6_469_693_230 / 29} {
		for _, k := range []int{1, 2, 3, 4, 5, 7, 9, 12, 20, 29, 31, 1000} {
			dims := make([]int, k)
			if err := DimsCreate(n, dims); err != nil {
				t.Fatal(err)
			}
			product := 1
			for i, d := range dims {
				if product *= d; i > 0 && d > dims[i-1] {
					t.Errorf("%d in %d dimensions: %v increase", n, k, dims)
				}
			}
			if product != n {
				t.Errorf("%d in %d dimensions: %v have the product %d", n, k, dims, product)
			}
		}
	}
	dims := make([]int, 3)
	if err := DimsCreate(1e9, dims); err != nil || !slices.Equal(dims, []int{1000, 1000, 1000}) {
		t.Errorf("1e9 in three dimensions: %v, %v", dims, err)
	}
}
