package credits

import (
	"math/rand/v2"
	"slices"
)

// pattern says which rank sends to which.
type pattern struct {
	name    string
	rotates bool // partners change with the phase
	// targets lists whom node i of n sends to in a phase, in turns. It is a pure function of its arguments.
	targets func(i, n, phase int, seed uint64) []int
}

var patterns = []pattern{
	{"static", false, static},
	{"ring", false, ring},
	{"chain", true, chain},
	{"oddpoll", true, oddPoll},
	{"pairs", true, pairs},
	{"tree", false, tree},
	{"hotspot", false, hotSpot},
	{"random", true, random},
	{"none", false, func(int, int, int, uint64) []int { return nil }},
}

// Patterns lists the patterns. static: six neighbours in a torus. ring: both neighbours. chain: every rank sends to the
// rank at a distance, which changes. oddpoll: even ranks send, odd ones only poll. pairs: both ways. tree: parent and
// children of a binomial tree. hotspot: all ranks send to rank 0. random: to a rank drawn anew. none: no rank sends.
func Patterns() []string {
	var names []string
	for _, p := range patterns {
		names = append(names, p.name)
	}
	return names
}

func patternOf(name string) pattern {
	return patterns[slices.IndexFunc(patterns, func(p pattern) bool { return p.name == name })]
}

// static has the ranks in a box of which each dimension is about the cube root of their number; edges meet.
func static(i, n, _ int, _ uint64) []int {
	side := 1
	for (side+1)*(side+1)*(side+1) <= n {
		side++
	}
	var to []int
	for _, d := range []int{1, side, side * side} {
		for _, j := range []int{(i + d) % n, (i + n - d%n) % n} {
			to = appendNew(to, i, j)
		}
	}
	return to
}

func ring(i, n, _ int, _ uint64) []int { return appendNew([]int{(i + 1) % n}, i, (i+n-1)%n) }

func appendNew(to []int, self, j int) []int {
	if j == self || slices.Contains(to, j) {
		return to
	}
	return append(to, j)
}

func chain(i, n, phase int, _ uint64) []int { return []int{(i + 1 + phase%(n-1)) % n} }

func oddPoll(i, n, phase int, _ uint64) []int {
	even := n / 2 * 2
	if i%2 == 1 || i >= even {
		return nil
	}
	return []int{(i + 1 + 2*phase) % even}
}

// pairs is the circle method: in n-1 phases everybody meets everybody once. With an odd number one rank rests.
func pairs(i, n, phase int, _ uint64) []int {
	m := (n+1)/2*2 - 1 // all but the one in the middle stand on a circle
	p := phase % m
	j := m // the one in the middle
	if i != m {
		if j = (p - i%m + m) % m; j == i {
			j = m
		}
	} else {
		j = p * ((m + 1) / 2) % m
	}
	if j >= n {
		return nil
	}
	return []int{j}
}

func tree(i, n, _ int, _ uint64) []int {
	var to []int
	low := n // a rank's children differ from it in one bit below its lowest
	if i > 0 {
		low = i & -i
		to = append(to, i-low)
	}
	for bit := 1; bit < low && i+bit < n; bit <<= 1 {
		to = append(to, i+bit)
	}
	return to
}

func hotSpot(i, _, _ int, _ uint64) []int {
	if i == 0 {
		return nil
	}
	return []int{0}
}

func random(i, n, phase int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, uint64(phase)<<32|uint64(i)))
	return []int{(i + 1 + r.IntN(n-1)) % n}
}
