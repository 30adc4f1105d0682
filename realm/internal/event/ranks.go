package event

import "slices"

// Ranks is a set of ranks, in the order of their coming.
type Ranks struct {
	first int32 // plus 1; 0 if the set is empty
	more  []int32
}

func (r *Ranks) addRank(rank int32) {
	if r.first == 0 {
		r.first = rank + 1
		return
	}
	r.more = append(r.more, rank)
}

// Each calls f for each of them.
func (r *Ranks) Each(f func(rank int)) {
	if r.first == 0 {
		return
	}
	f(int(r.first - 1))
	for _, x := range r.more {
		f(int(x))
	}
}

// Len is how many there are.
func (r *Ranks) Len() int {
	if r.first == 0 {
		return 0
	}
	return 1 + len(r.more)
}

func (r *Ranks) hasRank(rank int32) bool {
	return r.first == rank+1 || slices.Contains(r.more, rank)
}

// dropRank takes one rank out of the set.
func (r *Ranks) dropRank(rank int32) {
	switch i := slices.Index(r.more, rank); {
	case i >= 0:
		r.more = slices.Delete(r.more, i, i+1)
	case r.first != rank+1:
	case len(r.more) == 0:
		r.first = 0
	default:
		r.first, r.more = r.more[0]+1, r.more[1:]
	}
}
