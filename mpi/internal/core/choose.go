package core

import "github.com/golci/golci/mpi/internal/board"

// How a collective is carried out is a pure function of sizes that all its ranks know: how many ranks there are, and
// lengths in bytes. Ranks that choose differently do not understand each other's messages.

// bcastWay is for n bytes in elems elements. Above bcastLarge bytes, among at least bcastRanks ranks, a broadcast
// scatters the parts and has the ranks pass them round a ring, so that no rank sends the whole more than twice; below,
// a binomial tree has fewer steps.
func bcastWay(ranks, n, elems int) way {
	if n > bcastLarge && ranks >= bcastRanks && elems >= ranks {
		return wayBcastRing
	}
	return wayBcastTree
}

const (
	bcastLarge = 128 << 10
	bcastRanks = 4
)

// reduceWay is for a vector of n bytes. A long one is several messages.
func reduceWay(n int) way {
	if n > ReduceSegment {
		return wayReduceParts
	}
	return wayReduceTree
}

// scanWay is for a vector of n bytes.
func scanWay(k *prefix, n int) way {
	if n > ReduceSegment {
		return k.parts
	}
	return k.whole
}

// ReduceSegment is how many bytes of a long vector travel in one message of a reduction. One segment is combined, out
// of the cache, while the next is on its way.
const ReduceSegment = 128 << 10

// allreduceWay is for a vector of n bytes in elems elements. Of more bytes than ReduceLarge each rank combines its
// share. Two ranks move as many bytes in either way, so they swap whole vectors for longer: that is one exchange in
// place of two.
func allreduceWay(ranks, n, elems int) way {
	most := ReduceLarge
	if ranks == 2 {
		most = ReducePair
	}
	if n > most && elems >= ranks && ranks > 1 {
		return wayAllreduceRing
	}
	return wayAllreduceSwap
}

// ReduceLarge and ReducePair are the limits of allreduceWay.
const (
	ReduceLarge = 64 << 10
	ReducePair  = 512 << 10
)

// blockWay is for a reduce-scatter of equal parts of n bytes in all. Halving has a message for each round. It sends
// more bytes than shares if the ranks are no power of two, and copies the vector.
func blockWay(ranks, n int) way {
	if ranks > 2 && n <= scatterLarge {
		return wayBlockHalving
	}
	return wayBlockShares
}

// reduceScatterWay is blockWay for parts of different lengths.
func reduceScatterWay(ranks, n int) way {
	if ranks > 2 && n <= scatterLarge {
		return wayReduceScatterHalving
	}
	return wayReduceScatterShares
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

// alltoallWay is for parts of n bytes. Very short ones travel with others, several times. Short ones are sent at once.
// Above that the ranks pair up, round after round, so that no receiver is flooded.
func alltoallWay(ranks, n int) way {
	switch {
	case n <= alltoallBruck && ranks >= alltoallRanks:
		return wayAlltoallBruck
	case n <= alltoallAtOnce && ranks > 2:
		return wayAlltoallAll
	}
	return wayAlltoallPairs
}

const (
	alltoallBruck  = 128
	alltoallRanks  = 16
	alltoallAtOnce = 4 << 10
)

// onBoard is how a call goes over the board. Its way differs where what lies on the board does: ranks that disagree
// about a length, and look for each other's bytes in different places, then find that out.
type onBoard struct {
	way way
	do  func(x *Call, root int) error // nil: the call is one by messages
}

// Which calls go over the board, where there is one.

func (x *Call) boardBcast(n int) onBoard {
	switch {
	case x.tiers() && n <= board.Short:
		return onBoard{wayTierBcast, tierBcast}
	case x.tiers():
		return onBoard{wayTierBcastLong, tierBcast}
	case !x.boards():
		return onBoard{}
	case n <= board.Short:
		return onBoard{wayBoardBcast, boardBcast}
	case n <= boardMostOfTwo || x.size > 2:
		return onBoard{wayBoardBcastLong, boardBcastLong}
	}
	return onBoard{}
}

func (x *Call) boardAllgather(n int) onBoard {
	switch {
	case x.tiers() && x.st.shared.blocks && n <= board.Short:
		return onBoard{wayTierAllgather, tierAllgather}
	case !x.boards():
		return onBoard{}
	case n <= board.Short:
		return onBoard{wayBoardAllgather, boardAllgather}
	case n >= boardGets && x.size == 2 && x.st.shared.gets:
		return onBoard{wayBoardAllgatherParts, boardAllgatherParts}
	}
	return onBoard{wayBoardAllgatherLong, boardAllgatherLong}
}

// boardAlltoall is for parts of n bytes. What is in place would be overwritten before it has left.
func (x *Call) boardAlltoall(n int, inPlace bool) onBoard {
	switch {
	case !x.boards():
		return onBoard{}
	case n*x.size <= board.Short:
		return onBoard{wayBoardAlltoall, boardAlltoall}
	case inPlace:
		return onBoard{}
	case n >= boardGets && x.st.shared.gets:
		return onBoard{wayBoardAlltoallParts, boardAlltoallParts}
	}
	return onBoard{wayBoardAlltoallLong, boardAlltoallLong}
}

// halved tells that the nodes are halves of the ranks, and so on, and that a block has an element for each rank.
func (x *Call) halved(elem int) bool { return x.st.shared.halves && elem*x.size <= board.ChunkBytes }

func (x *Call) boardAllreduce(n, elem int) onBoard {
	switch {
	case x.tiers() && n <= board.Short && x.halved(elem):
		return onBoard{wayTierAllreduce, tierAllreduce}
	case x.tiers() && x.halved(elem):
		return onBoard{wayTierAllreduceLong, tierAllreduce}
	case !x.boards():
		return onBoard{}
	case n <= board.Short:
		return onBoard{wayBoardAllreduce, boardAllreduce}
	case elem*x.size <= board.ChunkBytes:
		return onBoard{wayBoardAllreduceLong, boardAllreduceLong}
	}
	return onBoard{}
}

func (x *Call) boardReduce(n, elem int) onBoard {
	switch {
	case !x.boards():
		return onBoard{}
	case n <= board.Short:
		return onBoard{wayBoardReduce, boardReduce}
	case n >= boardReduceLeast && (n <= boardMostOfTwo || x.size > 2) && elem*x.size <= board.ChunkBytes:
		return onBoard{wayBoardReduceLong, boardReduceLong}
	}
	return onBoard{}
}

// boardRooted is for a gather or scatter of n bytes of each rank.
func (x *Call) boardRooted(d *direction, n int) func(*Call, int) error {
	switch {
	case !x.boards():
		return nil
	case d.down && n*x.size <= board.Short:
		return boardScatter
	case !d.down && n <= board.Short:
		return boardGather
	}
	return nil
}

// boardGets is the shortest part that ranks may get from each other's memory. It pays where cores are far apart: there
// each crossing costs, and the board has a part cross twice.
const boardGets = 256 << 10

// boardReduceLeast is the shortest vector that ranks reduce over the board in blocks. A tree of messages is quicker
// with shorter ones: only the root waits there.
const boardReduceLeast = 32 << 10

// boardMostOfTwo is up to how many bytes two ranks broadcast, or reduce, over the board. Between far cores a copy by
// the kernel is quicker with more.
const boardMostOfTwo = 64 << 10
