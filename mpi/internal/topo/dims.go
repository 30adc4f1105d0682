// Package topo has the process topologies of MPI (chapter 8): grids, graphs, and the placing of ranks on nodes.
package topo

import (
	"fmt"
	"math"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// DimsCreate sets each dimension that is 0 so that the product of all is nodes (MPI_Dims_create, 8.5.2). Those that it
// sets do not increase with the index. Their greatest differs from their least by as little as can be. Of several such
// results it takes the one with the greatest least dimension, then with the greatest next to the least, and so on.
//
// errs.Dims: a dimension is negative, or those given do not divide nodes, or all are given and their product is another
// number. errs.Arg: nodes is not positive, or more than an int of C has.
func DimsCreate(nodes int, dims []int) error {
	if nodes < 1 || nodes > math.MaxInt32 {
		return fmt.Errorf("%w: %d nodes", errs.Arg, nodes)
	}
	rest, free := nodes, 0
	for i, d := range dims {
		switch {
		case d < 0:
			return fmt.Errorf("%w: dimension %d is %d", errs.Dims, i, d)
		case d == 0:
			free++
		case rest%d != 0:
			return fmt.Errorf("%w: %v do not divide %d nodes", errs.Dims, dims, nodes)
		default:
			rest /= d
		}
	}
	if free == 0 && rest != 1 {
		return fmt.Errorf("%w: %v have not the product %d", errs.Dims, dims, nodes)
	}
	if free > 0 {
		set(dims, balanced(rest, free))
	}
	return nil
}

// set puts values in place of zeros, and 1 where there are no more values.
func set(dims, values []int) {
	for i, d := range dims {
		switch {
		case d != 0:
		case len(values) == 0:
			dims[i] = 1
		default:
			dims[i], values = values[0], values[1:]
		}
	}
}

// mostFactors is more than the prime factors of any number of nodes. Further dimensions are 1.
const mostFactors = 31

// balanced is the best k factors of n, from the greatest on, without some ones at the end.
func balanced(n, k int) (best []int) {
	k = min(k, mostFactors)
	s := splitter{divs: divisors(n), failed: make(map[state]bool)}
	diff, prime := n, greatestPrime(n)
	for _, s.high = range s.divs {
		least := s.high - diff // what the least factor must be, at least, lest the result be worse
		if s.high < prime || !reaches(s.high, k, n) {
			continue // some factor has that prime
		}
		if least > 1 && !withinPower(least, k-1, n/s.high) {
			break
		}
		clear(s.failed)
		if s.split(n/s.high, k-1, least) {
			best = append([]int{s.high}, s.found...)
			diff = s.high - best[len(best)-1]
		}
	}
	return best
}

// splitter looks for factors of at most high.
type splitter struct {
	divs   []int // of n, in order
	high   int
	found  []int
	failed map[state]bool // what has been tried in vain
}

type state struct{ n, k, low int }

// split looks for k factors of n that are at least low: the least one as great as can be, then the next. It leaves them
// in found, from the greatest on.
func (s *splitter) split(n, k, low int) (ok bool) {
	if k == 0 {
		s.found = s.found[:0]
		return n == 1
	}
	if !reaches(s.high, k, n) || s.failed[state{n, k, low}] {
		return false
	}
	for _, f := range slices.Backward(s.divs) {
		if f < low {
			break
		}
		if n%f == 0 && withinPower(f, k, n) && s.split(n/f, k-1, f) {
			s.found = append(s.found, f)
			return true
		}
	}
	s.failed[state{n, k, low}] = true
	return false
}

// reaches tells whether f to the power of k is at least n.
func reaches(f, k, n int) bool {
	for p := 1; k > 0; k-- {
		if p *= f; p >= n {
			return true
		}
		if f == 1 {
			return false
		}
	}
	return n <= 1
}

// withinPower tells whether f to the power of k is at most n.
func withinPower(f, k, n int) bool {
	for p := 1; k > 0 && f > 1; k-- {
		if p *= f; p > n {
			return false
		}
	}
	return true
}

// greatestPrime is the greatest prime that divides n, or 1.
func greatestPrime(n int) int {
	p := 1
	for d := 2; d*d <= n; d++ {
		for n%d == 0 {
			p, n = d, n/d
		}
	}
	return max(p, n)
}

// divisors lists those of n in order.
func divisors(n int) (list []int) {
	var large []int
	for d := 1; d*d <= n; d++ {
		if n%d != 0 {
			continue
		}
		list = append(list, d)
		if d*d != n {
			large = append(large, n/d)
		}
	}
	slices.Reverse(large)
	return append(list, large...)
}
