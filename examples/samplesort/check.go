package main

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi"
)

// digest does not depend on the order of numbers. Two sets of them have the same one by accident only.
type digest struct{ Count, Sum, Mixed uint64 }

func digestOf(numbers []uint64) digest {
	d := digest{Count: uint64(len(numbers))}
	for _, n := range numbers {
		d.Sum += n
		d.Mixed += mix(n)
	}
	return d
}

// mix is the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// check compares the parts of all ranks with the digests of what they were made of, and gives the count of all numbers.
func check(c *mpi.Comm, before digest, part []uint64) (all uint64, err error) {
	if !slices.IsSorted(part) {
		return 0, fmt.Errorf("the part of rank %d is not sorted", c.Rank())
	}
	below, err := largestBelow(c, part)
	if err != nil {
		return 0, err
	}
	if len(part) > 0 && part[0] < below {
		return 0, fmt.Errorf("rank %d begins at %d, below a number of a rank before it, %d", c.Rank(), part[0], below)
	}
	after := digestOf(part)
	digests := []uint64{before.Count, before.Sum, before.Mixed, after.Count, after.Sum, after.Mixed}
	if err := mpi.Allreduce(c, mpi.InPlace(digests), digests, mpi.Sum); err != nil {
		return 0, err
	}
	if !slices.Equal(digests[:3], digests[3:]) {
		return 0, fmt.Errorf("the numbers were %v and became %v", digests[:3], digests[3:])
	}
	return digests[0], nil
}

// largestBelow is the largest number of the ranks below this one, 0 if there is none.
func largestBelow(c *mpi.Comm, part []uint64) (uint64, error) {
	last, below := []uint64{0}, []uint64{0}
	if len(part) > 0 {
		last[0] = part[len(part)-1]
	}
	err := mpi.Exscan(c, last, below, mpi.Max)
	return below[0], err
}
