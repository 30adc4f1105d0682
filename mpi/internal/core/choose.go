package core

// How a collective is carried out is a pure function of sizes that all its ranks know: how many ranks there are, and
// lengths in bytes. Ranks that choose differently do not understand each other's messages.

// bcastAlgorithm is for n bytes in elems elements. Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast
// scatters the parts and has the ranks pass them round a ring, so that no rank sends the whole more than twice; below,
// a binomial tree has fewer steps.
func bcastAlgorithm(ranks, n, elems int) algorithm {
	if n > bcastLarge && ranks >= bcastRanks && elems >= ranks {
		return algBcastRing
	}
	return algBcastTree
}

const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// reduceAlgorithm is for a vector of n bytes. A long one is several messages.
func reduceAlgorithm(n int) algorithm {
	if n > ReduceSegment {
		return algReduceParts
	}
	return algReduceTree
}

// ReduceSegment is how many bytes of a long vector travel in one message of a reduction. One segment is combined, out
// of the cache, while the next is on its way.
const ReduceSegment = 128 << 10

// allreduceAlgorithm is for a vector of n bytes in elems elements. Of more bytes than ReduceLarge each rank combines
// its share. Two ranks move as many bytes in either way, so they swap whole vectors for longer: that is one exchange in
// place of two.
func allreduceAlgorithm(ranks, n, elems int) algorithm {
	most := ReduceLarge
	if ranks == 2 {
		most = ReducePair
	}
	if n > most && elems >= ranks && ranks > 1 {
		return algAllreduceRing
	}
	return algAllreduceSwap
}

// ReduceLarge and ReducePair are the limits of allreduceAlgorithm.
const (
	ReduceLarge = 64 << 10
	ReducePair  = 512 << 10
)

// blockAlgorithm is for a reduce-scatter of equal parts of n bytes in all. Halving has a message for each round. It
// sends more bytes than shares if the ranks are no power of two, and copies the vector.
func blockAlgorithm(ranks, n int) algorithm {
	if ranks > 2 && n <= scatterLarge {
		return algBlockHalving
	}
	return algBlockShares
}

// reduceScatterAlgorithm is blockAlgorithm for parts of different lengths.
func reduceScatterAlgorithm(ranks, n int) algorithm {
	if ranks > 2 && n <= scatterLarge {
		return algReduceScatterHalving
	}
	return algReduceScatterShares
}

const scatterLarge = 64 << 10

// gathersByTree tells that a gather or scatter of n bytes of each rank goes over a binomial tree, which has fewer steps
// but sends most bytes several times.
func gathersByTree(ranks, n int) bool { return n <= gatherTree && ranks > 2 }

const gatherTree = 2 << 10

// allgathersInSteps tells that an allgather of n bytes in all doubles what it holds in each step, at the price of a
// copy; else the parts go round a ring.
func allgathersInSteps(ranks, n int) bool { return n <= allgatherBruck && ranks > 2 }

const allgatherBruck = 32 << 10

// alltoallAlgorithm is for parts of n bytes. Very short ones travel with others, several times. Short ones are sent at
// once. Above that the ranks pair up, round after round, so that no receiver is flooded.
func alltoallAlgorithm(ranks, n int) algorithm {
	switch {
	case n <= alltoallBruck && ranks >= alltoallRanks:
		return algAlltoallBruck
	case n <= alltoallAtOnce && ranks > 2:
		return algAlltoallAll
	}
	return algAlltoallPairs
}

const (
	alltoallBruck  = 128
	alltoallRanks  = 16
	alltoallAtOnce = 4 << 10
)

// shmGets is the shortest part that ranks may get from each other's memory. It pays where cores are far apart: there
// each crossing costs, and the shared segment has a part cross twice.
const shmGets = 256 << 10

// shmReduceLeast is the shortest vector that ranks reduce through the shared segment in blocks. A tree of messages is
// quicker with shorter ones: only the root waits there.
const shmReduceLeast = 32 << 10

// shmMostOfTwo is up to how many bytes two ranks broadcast, or reduce, through the shared segment. Between far cores a
// copy by the kernel is quicker with more.
const shmMostOfTwo = 64 << 10
