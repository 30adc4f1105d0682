package main

import (
	"slices"

	"github.com/golci/golci/mpi"
)

// samplesPerRank is how many numbers of each rank choose the cuts. More make the parts more equal.
const samplesPerRank = 64

// key is a number, and where it was. So equal numbers have an order, too, and are dealt evenly.
type key struct {
	Value uint64
	Rank  int64
	Index int64
}

func (k key) less(l key) bool {
	switch {
	case k.Value != l.Value:
		return k.Value < l.Value
	case k.Rank != l.Rank:
		return k.Rank < l.Rank
	}
	return k.Index < l.Index
}

// samplesort gives this rank its part of the numbers of all ranks, in order. It sorts numbers, too.
func samplesort(c *mpi.Comm, numbers []uint64) ([]uint64, error) {
	slices.Sort(numbers)
	cuts, err := chooseCuts(c, numbers)
	if err != nil {
		return nil, err
	}
	send := make([]int, c.Size()) // counts
	begin := 0
	for to := range send {
		end := len(numbers)
		if to < len(cuts) {
			end = cutAt(numbers, cuts[to], int64(c.Rank()))
		}
		send[to], begin = max(end-begin, 0), max(end, begin)
	}
	recv := make([]int, c.Size())
	if err := mpi.Alltoall(c, send, recv); err != nil {
		return nil, err
	}
	from, to := places(send), places(recv)
	part := make([]uint64, to[c.Size()])
	err = mpi.Alltoallv(c, numbers, send, from[:c.Size()], part, recv, to[:c.Size()])
	slices.Sort(part)
	return part, err
}

// chooseCuts gives all ranks the same keys, one fewer than ranks, or none if there are too few numbers.
func chooseCuts(c *mpi.Comm, numbers []uint64) ([]key, error) {
	var mine []key
	for i := range min(samplesPerRank, len(numbers)) {
		at := (2*i + 1) * len(numbers) / (2 * min(samplesPerRank, len(numbers)))
		mine = append(mine, key{numbers[at], int64(c.Rank()), int64(at)})
	}
	samples, _, err := mpi.AllgathervAlloc(c, mine)
	if err != nil || len(samples) == 0 {
		return nil, err
	}
	slices.SortFunc(samples, func(a, b key) int {
		if a.less(b) {
			return -1
		}
		return 1
	})
	var cuts []key
	for i := 1; i < c.Size(); i++ {
		cuts = append(cuts, samples[i*len(samples)/c.Size()])
	}
	return cuts, nil
}

// cutAt is how many of a rank's numbers, which are sorted, lie below a cut.
func cutAt(numbers []uint64, cut key, rank int64) int {
	low, _ := slices.BinarySearch(numbers, cut.Value)
	equal, _ := slices.BinarySearchFunc(numbers[low:], cut.Value, func(n, v uint64) int {
		if n <= v {
			return -1
		}
		return 1
	})
	switch {
	case rank < cut.Rank:
		return low + equal
	case rank > cut.Rank:
		return low
	}
	return int(cut.Index)
}

// places are where the parts of some lengths begin, one after the other, and where the last one ends.
func places(counts []int) []int {
	at := make([]int, len(counts)+1)
	for i, n := range counts {
		at[i+1] = at[i] + n
	}
	return at
}
