// Package algorithm says how a collective is carried out, and how ranks tell each other which call they are in: the
// algorithms and their names, the limits by which a call chooses one, the tags of messages, and what a rank has called
// so far. It knows sizes, not communicators.
package algorithm

import (
	"fmt"
	"math/bits"

	"github.com/golci/golci/comm"
)

// The tag of a message of a collective says to which call it belongs: the algorithm in which the call is carried out,
// its root, its mark, and the low bits of its number on the communicator. So messages of calls that differ in any of
// these never match. How many bits each has depends on the number of ranks: root, mark and number together have
// TagShared. The mark is a few bits of a hash; see History.
const (
	tagBits       = 28
	algorithmBits = 6
	TagShared     = tagBits - algorithmBits
)

const _ = uint(1<<(TagShared-2) - comm.MaxRanks) // two bits are left for numbers

// Algorithm is a collective and how it is carried out. Ranks that disagree about a length may choose different ones.
type Algorithm uint8

const (
	Finalize Algorithm = iota // Finalize's barrier, which is no numbered call
	Round                     // the barrier and check before numbers are used again; see beginCall
	Compare                   // the exchange before a call where ranks compare what they call; see collcheck.go
	Barrier
	BcastTree
	BcastRing
	ReduceTree
	ReduceParts // all segments of a vector but the last
	ReduceEnd   // the last one
	AllreduceSwap
	AllreduceRing
	GatherTree
	GatherAll
	Gatherv
	ScatterTree
	ScatterAll
	Scatterv
	AllgatherSteps
	AllgatherRing
	Allgatherv
	AlltoallAll
	AlltoallPairs
	Alltoallv
	AlltoallBruck
	AllgathervSteps
	Scan
	ScanParts // all segments of a vector but the last, in each round
	ScanEnd   // the last one
	Exscan
	ExscanParts
	ExscanEnd
	BlockHalving
	BlockShares
	ReduceScatterHalving
	ReduceScatterShares
	NearAllgather // of a neighbourhood
	NearAllgatherv
	NearAlltoall
	NearAlltoallv
	NearAlltoallw
	ShmMake    // the exchanges in which ranks make a shared segment, before the call; see makeShm
	ShmBarrier // through the shared segment
	ShmBcast
	ShmBcastLong // in chunks
	ShmReduce
	ShmReduceLong
	ShmAllreduce
	ShmAllreduceLong
	ShmGather
	ShmScatter
	ShmAllgather
	ShmAllgatherLong
	ShmAllgatherParts // in chunks, or from the memory of the others
	ShmAlltoall
	ShmAlltoallLong
	ShmAlltoallParts
	ShmBlock
	TierBarrier // over the shared segments of several nodes
	TierBcast
	TierBcastLong
	TierAllreduce
	TierAllreduceLong
	TierAllgather
	Free // no call, and no algorithm of messages: the communicator has been freed; only answers have it
	Count
)

const _ = uint(1<<algorithmBits - Free) // those of messages fit

var names = [Count]string{
	Finalize: "Finalize", Round: "a check of numbers", Compare: "a comparison of calls",
	Barrier:   "Barrier",
	BcastTree: "Bcast", BcastRing: "Bcast",
	ReduceTree: "Reduce", ReduceParts: "Reduce", ReduceEnd: "Reduce",
	AllreduceSwap: "Allreduce", AllreduceRing: "Allreduce",
	GatherTree: "Gather", GatherAll: "Gather", Gatherv: "Gatherv",
	ScatterTree: "Scatter", ScatterAll: "Scatter", Scatterv: "Scatterv",
	AllgatherSteps: "Allgather", AllgatherRing: "Allgather", Allgatherv: "Allgatherv",
	AlltoallAll: "Alltoall", AlltoallPairs: "Alltoall", Alltoallv: "Alltoallv",
	AlltoallBruck: "Alltoall", AllgathervSteps: "Allgatherv",
	Scan: "Scan", ScanParts: "Scan", ScanEnd: "Scan",
	Exscan: "Exscan", ExscanParts: "Exscan", ExscanEnd: "Exscan",
	BlockHalving: "ReduceScatterBlock", BlockShares: "ReduceScatterBlock",
	ReduceScatterHalving: "ReduceScatter", ReduceScatterShares: "ReduceScatter",
	NearAllgather: "NeighborAllgather", NearAllgatherv: "NeighborAllgatherv",
	NearAlltoall: "NeighborAlltoall", NearAlltoallv: "NeighborAlltoallv", NearAlltoallw: "NeighborAlltoallw",
	ShmMake:    "the making of a shared segment",
	ShmBarrier: "Barrier", ShmBcast: "Bcast", ShmReduce: "Reduce", ShmAllreduce: "Allreduce",
	ShmGather: "Gather", ShmScatter: "Scatter", ShmAllgather: "Allgather",
	ShmAlltoall: "Alltoall", ShmBlock: "ReduceScatterBlock",
	ShmBcastLong: "Bcast", ShmReduceLong: "Reduce", ShmAllreduceLong: "Allreduce",
	ShmAllgatherLong:  "Allgather",
	ShmAllgatherParts: "Allgather", ShmAlltoallLong: "Alltoall", ShmAlltoallParts: "Alltoall",
	TierBcastLong: "Bcast", TierAllreduceLong: "Allreduce",
	TierBarrier: "Barrier", TierBcast: "Bcast", TierAllreduce: "Allreduce", TierAllgather: "Allgather",
	Free: "Free",
}

// ComesBefore tells that messages of this algorithm come before those of the call whose number they have.
func (w Algorithm) ComesBefore() bool {
	return w == Round || w == Compare || w == ShmMake
}

// OverMemory tells that a call goes this way over the memory of its node.
func (w Algorithm) OverMemory() bool { return w >= ShmBarrier && w < Free }

// repeating has a bit for each algorithm in which a rank may send another several messages with one tag.
const repeating uint64 = 1<<Finalize | 1<<TierAllreduce | 1<<TierAllreduceLong | 1<<BcastRing |
	1<<ReduceParts | 1<<ReduceEnd | 1<<AllreduceRing | 1<<ShmMake |
	1<<AllgatherRing | 1<<Allgatherv | 1<<ScanParts | 1<<ScanEnd |
	1<<Exscan | 1<<ExscanParts | 1<<ExscanEnd |
	1<<NearAllgather | 1<<NearAllgatherv | 1<<NearAlltoall | 1<<NearAlltoallv | 1<<NearAlltoallw

func (w Algorithm) Repeats() bool { return repeating>>(w&63)&1 != 0 }

// String is the name of the collective.
func (w Algorithm) String() string {
	if w < Count {
		return names[w]
	}
	return fmt.Sprintf("unknown collective %d", uint8(w))
}

// Marks have up to mostMark bits where numbers have leastNumber: the fewer bits a number has, the more often a round
// begins.
const (
	mostMark    = 8
	leastNumber = 12
)

// MarkBits is how many bits of a tag are the mark, on a communicator of that size.
func MarkBits(size int) int {
	return min(max(TagShared-bits.Len(uint(size-1))-leastNumber, 0), mostMark)
}

// NumberBits is how many low bits of a call's number are in the tags of a communicator of that size.
func NumberBits(size int) int { return TagShared - bits.Len(uint(size-1)) - MarkBits(size) }

// MakeTag is the tag of messages that have no mark, of a call.
func MakeTag(size int, w Algorithm, root int, call uint64) int {
	n := NumberBits(size)
	return int(w)<<TagShared | root<<(n+MarkBits(size)) | int(call&(1<<n-1))
}

// OfTag, RootOfTag and NumberOfTag are the parts of a tag.
func OfTag(tag int) Algorithm { return Algorithm(tag >> TagShared) }

func RootOfTag(size, tag int) int {
	return tag & (1<<TagShared - 1) >> (NumberBits(size) + MarkBits(size))
}

func NumberOfTag(size, tag int) int { return tag & (1<<NumberBits(size) - 1) }

// CallText names the call to which a message with that tag belongs, on a rank whose last call is number last.
func CallText(size, tag int, last uint64) string {
	return OfTag(tag).String() + CallDetail(size, tag, last)
}

// CallDetail is CallText without the name of the collective.
func CallDetail(size, tag int, last uint64) string {
	w := OfTag(tag)
	if w == Finalize || w == Free {
		return ""
	}
	n := NumberBits(size)
	ahead := int64(NumberOfTag(size, tag)-int(last)) << (64 - n) >> (64 - n) // from last to the number that the tag is of
	text := fmt.Sprintf(", call %d", ahead+int64(last))
	if w.Rooted() {
		text += fmt.Sprintf(", root %d", RootOfTag(size, tag))
	}
	return text
}

// Rooted tells that the collective has a root.
func (w Algorithm) Rooted() bool {
	switch w {
	case BcastTree, BcastRing, ReduceTree, ReduceParts, ReduceEnd,
		GatherTree, GatherAll, Gatherv, ScatterTree, ScatterAll, Scatterv,
		ShmBcast, ShmBcastLong, ShmReduce, ShmReduceLong, ShmGather, ShmScatter,
		TierBcast, TierBcastLong:
		return true
	}
	return false
}

// KeptTags is for how many calls a rank knows what it has called.
const KeptTags = 16

// An entry of tags is a tag, then whether its call does not wait, then the low bits of the call's number.
const (
	TagEntryLater = 1 << tagBits
	TagEntryBits  = tagBits + 1
)

// TagIn gives the tag of a call that a word of collState.tags has, if it is of that call.
func TagIn(e, call uint64) (int, bool) {
	return int(e & (1<<tagBits - 1)), e != 0 && call > 0 && e>>TagEntryBits == call&(1<<(64-TagEntryBits)-1)
}
