package core

import (
	"fmt"
	"math/bits"

	"github.com/golci/golci/comm"
)

// The tag of a message of a collective says to which call it belongs: the algorithm in which the call is carried out,
// its root, its mark, and the low bits of its number on the communicator. So messages of calls that differ in any of
// these never match. How many bits each has depends on the number of ranks: root, mark and number together have
// tagShared. The mark is a few bits of a hash; see past.
const (
	tagBits   = 28
	algBits   = 6
	tagShared = tagBits - algBits
)

const _ = uint(1<<(tagShared-2) - comm.MaxRanks) // two bits are left for numbers

// algorithm is a collective and how it is carried out. Ranks that disagree about a length may choose different ones.
type algorithm uint8

const (
	algFinalize algorithm = iota // Finalize's barrier, which is no numbered call
	algRound                     // the barrier and check before numbers are used again; see beginCall
	algCompare                   // the exchange before a call where ranks compare what they call; see collcheck.go
	algBarrier
	algBcastTree
	algBcastRing
	algReduceTree
	algReduceParts // all segments of a vector but the last
	algReduceEnd   // the last one
	algAllreduceSwap
	algAllreduceRing
	algGatherTree
	algGatherAll
	algGatherv
	algScatterTree
	algScatterAll
	algScatterv
	algAllgatherSteps
	algAllgatherRing
	algAllgatherv
	algAlltoallAll
	algAlltoallPairs
	algAlltoallv
	algAlltoallBruck
	algAllgathervSteps
	algScan
	algScanParts // all segments of a vector but the last, in each round
	algScanEnd   // the last one
	algExscan
	algExscanParts
	algExscanEnd
	algBlockHalving
	algBlockShares
	algReduceScatterHalving
	algReduceScatterShares
	algNearAllgather // of a neighbourhood
	algNearAllgatherv
	algNearAlltoall
	algNearAlltoallv
	algNearAlltoallw
	algShmMake    // the exchanges in which ranks make a shared segment, before the call; see makeShm
	algShmBarrier // through the shared segment
	algShmBcast
	algShmBcastLong // in chunks
	algShmReduce
	algShmReduceLong
	algShmAllreduce
	algShmAllreduceLong
	algShmGather
	algShmScatter
	algShmAllgather
	algShmAllgatherLong
	algShmAllgatherParts // in chunks, or from the memory of the others
	algShmAlltoall
	algShmAlltoallLong
	algShmAlltoallParts
	algShmBlock
	algTierBarrier // over the shared segments of several nodes
	algTierBcast
	algTierBcastLong
	algTierAllreduce
	algTierAllreduceLong
	algTierAllgather
	algFree // no call, and no algorithm of messages: the communicator has been freed; only answers have it
	algorithms
)

const _ = uint(1<<algBits - algFree) // those of messages fit

var algNames = [algorithms]string{
	algFinalize: "Finalize", algRound: "a check of numbers", algCompare: "a comparison of calls",
	algBarrier:   "Barrier",
	algBcastTree: "Bcast", algBcastRing: "Bcast",
	algReduceTree: "Reduce", algReduceParts: "Reduce", algReduceEnd: "Reduce",
	algAllreduceSwap: "Allreduce", algAllreduceRing: "Allreduce",
	algGatherTree: "Gather", algGatherAll: "Gather", algGatherv: "Gatherv",
	algScatterTree: "Scatter", algScatterAll: "Scatter", algScatterv: "Scatterv",
	algAllgatherSteps: "Allgather", algAllgatherRing: "Allgather", algAllgatherv: "Allgatherv",
	algAlltoallAll: "Alltoall", algAlltoallPairs: "Alltoall", algAlltoallv: "Alltoallv",
	algAlltoallBruck: "Alltoall", algAllgathervSteps: "Allgatherv",
	algScan: "Scan", algScanParts: "Scan", algScanEnd: "Scan",
	algExscan: "Exscan", algExscanParts: "Exscan", algExscanEnd: "Exscan",
	algBlockHalving: "ReduceScatterBlock", algBlockShares: "ReduceScatterBlock",
	algReduceScatterHalving: "ReduceScatter", algReduceScatterShares: "ReduceScatter",
	algNearAllgather: "NeighborAllgather", algNearAllgatherv: "NeighborAllgatherv",
	algNearAlltoall: "NeighborAlltoall", algNearAlltoallv: "NeighborAlltoallv", algNearAlltoallw: "NeighborAlltoallw",
	algShmMake:    "the making of a board",
	algShmBarrier: "Barrier", algShmBcast: "Bcast", algShmReduce: "Reduce", algShmAllreduce: "Allreduce",
	algShmGather: "Gather", algShmScatter: "Scatter", algShmAllgather: "Allgather",
	algShmAlltoall: "Alltoall", algShmBlock: "ReduceScatterBlock",
	algShmBcastLong: "Bcast", algShmReduceLong: "Reduce", algShmAllreduceLong: "Allreduce",
	algShmAllgatherLong:  "Allgather",
	algShmAllgatherParts: "Allgather", algShmAlltoallLong: "Alltoall", algShmAlltoallParts: "Alltoall",
	algTierBcastLong: "Bcast", algTierAllreduceLong: "Allreduce",
	algTierBarrier: "Barrier", algTierBcast: "Bcast", algTierAllreduce: "Allreduce", algTierAllgather: "Allgather",
	algFree: "Free",
}

// comesBefore tells that messages of this algorithm come before those of the call whose number they have.
func (w algorithm) comesBefore() bool {
	return w == algRound || w == algCompare || w == algShmMake
}

// overMemory tells that a call goes this way over the memory of its node.
func (w algorithm) overMemory() bool { return w >= algShmBarrier && w < algFree }

// repeating has a bit for each algorithm in which a rank may send another several messages with one tag.
const repeating uint64 = 1<<algFinalize | 1<<algTierAllreduce | 1<<algTierAllreduceLong | 1<<algBcastRing |
	1<<algReduceParts | 1<<algReduceEnd | 1<<algAllreduceRing | 1<<algShmMake |
	1<<algAllgatherRing | 1<<algAllgatherv | 1<<algScanParts | 1<<algScanEnd |
	1<<algExscan | 1<<algExscanParts | 1<<algExscanEnd |
	1<<algNearAllgather | 1<<algNearAllgatherv | 1<<algNearAlltoall | 1<<algNearAlltoallv | 1<<algNearAlltoallw

func (w algorithm) repeats() bool { return repeating>>(w&63)&1 != 0 }

// String is the name of the collective.
func (w algorithm) String() string {
	if w < algorithms {
		return algNames[w]
	}
	return fmt.Sprintf("unknown collective %d", uint8(w))
}

// Marks have up to mostMark bits where numbers have leastNumber: the fewer bits a number has, the more often a round
// begins.
const (
	mostMark    = 8
	leastNumber = 12
)

// markBits is how many bits of a tag are the mark, on a communicator of that size.
func markBits(size int) int {
	return min(max(tagShared-bits.Len(uint(size-1))-leastNumber, 0), mostMark)
}

// numberBits is how many low bits of a call's number are in the tags of a communicator of that size.
func numberBits(size int) int { return tagShared - bits.Len(uint(size-1)) - markBits(size) }

// collTag is the tag of messages that have no mark, of a call.
func collTag(size int, w algorithm, root int, call uint64) int {
	n := numberBits(size)
	return int(w)<<tagShared | root<<(n+markBits(size)) | int(call&(1<<n-1))
}

// tagAlgorithm, tagRoot and tagNumber are the parts of a tag.
func tagAlgorithm(tag int) algorithm { return algorithm(tag >> tagShared) }

func tagRoot(size, tag int) int {
	return tag & (1<<tagShared - 1) >> (numberBits(size) + markBits(size))
}

func tagNumber(size, tag int) int { return tag & (1<<numberBits(size) - 1) }

// callText names the call to which a message with that tag belongs, on a rank whose last call is number last.
func callText(size, tag int, last uint64) string {
	return tagAlgorithm(tag).String() + callDetail(size, tag, last)
}

// callDetail is callText without the name of the collective.
func callDetail(size, tag int, last uint64) string {
	w := tagAlgorithm(tag)
	if w == algFinalize || w == algFree {
		return ""
	}
	n := numberBits(size)
	ahead := int64(tagNumber(size, tag)-int(last)) << (64 - n) >> (64 - n) // from last to the number that the tag is of
	text := fmt.Sprintf(", call %d", ahead+int64(last))
	if w.rooted() {
		text += fmt.Sprintf(", root %d", tagRoot(size, tag))
	}
	return text
}

// rooted tells that the collective has a root.
func (w algorithm) rooted() bool {
	switch w {
	case algBcastTree, algBcastRing, algReduceTree, algReduceParts, algReduceEnd,
		algGatherTree, algGatherAll, algGatherv, algScatterTree, algScatterAll, algScatterv,
		algShmBcast, algShmBcastLong, algShmReduce, algShmReduceLong, algShmGather, algShmScatter,
		algTierBcast, algTierBcastLong:
		return true
	}
	return false
}

// keptTags is for how many calls a rank knows what it has called.
const keptTags = 16

// An entry of tags is a tag, then whether its call does not wait, then the low bits of the call's number.
const (
	tagEntryLater = 1 << tagBits
	tagEntryBits  = tagBits + 1
)

// tagIn gives the tag of a call that a word of collState.tags has, if it is of that call.
func tagIn(e, call uint64) (int, bool) {
	return int(e & (1<<tagBits - 1)), e != 0 && call > 0 && e>>tagEntryBits == call&(1<<(64-tagEntryBits)-1)
}
