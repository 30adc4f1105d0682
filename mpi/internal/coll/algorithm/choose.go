package algorithm

// How a collective is carried out is a pure function of sizes that all its ranks know: how many ranks there are, and
// lengths in bytes. Ranks that choose differently do not understand each other's messages.
//
// By messages, for p ranks, n bytes and e elements:
//
//	Bcast                   n > 128 KiB, p >= 4, e >= p      scatter, then a ring (BcastRing)
//	                        else                             binomial tree (BcastTree)
//	Reduce                  n > 128 KiB                      tree, in segments (ReduceParts)
//	                        else                             tree (ReduceTree)
//	Allreduce               n > 64 KiB (p = 2: 512 KiB),     each rank combines a share (AllreduceRing)
//	                        e >= p, p > 1
//	                        else                             exchanges of whole vectors (AllreduceSwap)
//	ReduceScatter, -Block   p > 2, n <= 64 KiB               halving (ReduceScatterHalving, BlockHalving)
//	                        else                             shares (ReduceScatterShares, BlockShares)
//	Scan, Exscan            n > 128 KiB                      in segments (ScanParts, ExscanParts)
//	                        else                             whole vectors (Scan, Exscan)
//	Gather, Scatter         p > 2, n <= 2 KiB of each rank   binomial tree (GatherTree, ScatterTree)
//	                        else                             all at the root (GatherAll, ScatterAll)
//	Allgather               p > 2, n <= 32 KiB in all        doubling (AllgatherSteps)
//	                        else                             a ring (AllgatherRing)
//	Alltoall                p >= 16, parts of n <= 128       several parts together (AlltoallBruck)
//	                        p > 2, parts of n <= 4 KiB       all at once (AlltoallAll)
//	                        else                             pair by pair (AlltoallPairs)
//
// Where ranks share a segment, shmchoice.go of mpi/internal/core looks first whether the call goes through that.

// ChooseBcast is for n bytes in elems elements. Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast
// scatters the parts, and the ranks pass them round a ring. So no rank sends the whole more than twice. Below that a
// binomial tree has fewer steps.
func ChooseBcast(ranks, n, elems int) Algorithm {
	if n > bcastLarge && ranks >= bcastRanks && elems >= ranks {
		return BcastRing
	}
	return BcastTree
}

const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// ChooseReduce is for a vector of n bytes. A long one is several messages.
func ChooseReduce(n int) Algorithm {
	if n > ReduceSegment {
		return ReduceParts
	}
	return ReduceTree
}

// ReduceSegment is how many bytes of a long vector travel in one message of a reduction. One segment is combined, out
// of the cache, while the next is on its way.
const ReduceSegment = 128 << 10

// ChooseAllreduce is for a vector of n bytes in elems elements. Of more bytes than ReduceLarge each rank combines
// its share. Two ranks move as many bytes in either way, so they swap whole vectors for longer: that is one exchange in
// place of two.
func ChooseAllreduce(ranks, n, elems int) Algorithm {
	most := ReduceLarge
	if ranks == 2 {
		most = ReducePair
	}
	if n > most && elems >= ranks && ranks > 1 {
		return AllreduceRing
	}
	return AllreduceSwap
}

// ReduceLarge and ReducePair are the limits of ChooseAllreduce.
const (
	ReduceLarge = 64 << 10
	ReducePair  = 512 << 10
)

// ChooseBlock is for a reduce-scatter of equal parts of n bytes in all. Halving has a message for each round. It
// sends more bytes than shares if the ranks are no power of two, and copies the vector.
func ChooseBlock(ranks, n int) Algorithm {
	if ranks > 2 && n <= scatterLarge {
		return BlockHalving
	}
	return BlockShares
}

// ChooseReduceScatter is ChooseBlock for parts of different lengths.
func ChooseReduceScatter(ranks, n int) Algorithm {
	if ranks > 2 && n <= scatterLarge {
		return ReduceScatterHalving
	}
	return ReduceScatterShares
}

const scatterLarge = 64 << 10

// GathersByTree tells that a gather or scatter of n bytes of each rank goes over a binomial tree, which has fewer steps
// but sends most bytes several times.
func GathersByTree(ranks, n int) bool { return n <= gatherTree && ranks > 2 }

const gatherTree = 2 << 10

// AllgathersInSteps tells that an allgather of n bytes in all doubles what it holds in each step, at the price of a
// copy; else the parts go round a ring.
func AllgathersInSteps(ranks, n int) bool { return n <= allgatherBruck && ranks > 2 }

const allgatherBruck = 32 << 10

// ChooseAlltoall is for parts of n bytes. Very short ones travel with others, several times. Short ones are sent at
// once. Above that the ranks pair up, round after round, so that no receiver is flooded.
func ChooseAlltoall(ranks, n int) Algorithm {
	switch {
	case n <= alltoallBruck && ranks >= alltoallRanks:
		return AlltoallBruck
	case n <= alltoallAtOnce && ranks > 2:
		return AlltoallAll
	}
	return AlltoallPairs
}

const (
	alltoallBruck  = 128
	alltoallRanks  = 16
	alltoallAtOnce = 4 << 10
)

// ShmGets is the shortest part that ranks may get from each other's memory. It pays where cores are far apart: there
// each crossing costs, and the shared segment has a part cross twice.
const ShmGets = 256 << 10

// ShmReduceLeast is the shortest vector that ranks reduce through the shared segment in blocks. A tree of messages is
// quicker with shorter ones: only the root waits there.
const ShmReduceLeast = 32 << 10

// ShmMostOfTwo is up to how many bytes two ranks broadcast, or reduce, through the shared segment. Between far cores a
// copy by the kernel is quicker with more.
const ShmMostOfTwo = 64 << 10
