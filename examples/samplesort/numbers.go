package main

import "math/rand/v2"

// spreads are the ways to make the numbers: i is a number's place among all.
var spreads = map[string]func(random *rand.Rand, i int) uint64{
	"even":   func(random *rand.Rand, _ int) uint64 { return random.Uint64() },
	"skewed": func(random *rand.Rand, _ int) uint64 { return random.Uint64() >> random.UintN(60) },
	"few":    func(random *rand.Rand, _ int) uint64 { return random.Uint64N(3) },
	"sorted": func(_ *rand.Rand, i int) uint64 { return uint64(i) },
}

// generate makes the numbers of one rank. The last ranks have fewer, so that parts are of many lengths.
func generate(o options, rank, size int) []uint64 {
	random := rand.New(rand.NewPCG(o.seed, uint64(rank)))
	numbers := make([]uint64, o.n-o.n*rank/(4*size))
	for i := range numbers {
		numbers[i] = spreads[o.spread](random, rank*o.n+i)
	}
	return numbers
}
