package mpitest

import (
	"fmt"
	"math/rand/v2"
)

// elem is an element of a message: an integer, so that no result depends on rounding.
type elem interface{ ~uint8 | ~int32 | ~int64 }

// mix is a number that looks random.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fill is n elements that belong to a seed and a key, such as the rank that sends them.
func fill[T elem](seed uint64, key, n int) []T {
	b := make([]T, n)
	base := mix(seed ^ mix(uint64(key)))
	for i := range b {
		b[i] = T(mix(base+uint64(i)) >> 8)
	}
	return b
}

// untouched is n elements of a buffer that nothing has come to.
func untouched[T elem](n int) []T {
	b := make([]T, n)
	for i := range b {
		b[i] = T(0x55 ^ i)
	}
	return b
}

// edges are lengths in bytes near which the library changes its ways: eager limits, records, chunks, segments.
var edges = []int{64, 256, 1 << 10, 2 << 10, 4 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 130920, 256 << 10}

// length draws a number of elements of size bytes, of at most most bytes in all.
func length(r *rand.Rand, size, most int) int {
	n := 0
	switch r.IntN(24) {
	case 0:
	case 1, 2, 3, 4, 5, 6, 7, 8:
		n = r.IntN(64)
	case 9, 10, 11, 12, 13, 14, 15, 16, 17:
		n = edges[r.IntN(len(edges))] + r.IntN(5)*8 - 16
	case 18, 19, 20, 21, 22:
		n = 1 << r.IntN(18)
	default:
		n = r.IntN(1 << 20)
	}
	return min(n, most) / size
}

// site is where a check stands: a step of a thread of a rank.
type site struct {
	a    *actor
	at   int
	step Step
}

// wrong makes an error of what has happened at s.
func (s site) wrong(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("seed %d: rank %d, thread %d, step %d (%v in communicator %d): %s: %w", s.a.p.Seed,
		s.a.world.Rank(), s.step.Thread, s.at, s.step.Kind, s.step.Comm, what, err)
}

// same compares what has come with what the model says, and adds it to the digest.
func same[T elem](s site, what string, got, want []T) error {
	if len(got) != len(want) {
		return s.wrong(what, fmt.Errorf("%d elements, want %d", len(got), len(want)))
	}
	sum := s.step.Seed
	for i, x := range got {
		if x != want[i] {
			return s.wrong(what, fmt.Errorf("element %d of %d is %d, want %d", i, len(got), x, want[i]))
		}
		sum = sum*1099511628211 ^ uint64(x)
	}
	s.a.digest += mix(sum)
	return nil
}
