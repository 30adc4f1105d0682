package core

import (
	"fmt"
	"math/bits"

	"github.com/golci/golci/comm"
)

// The tag of a message of a collective says to which call it belongs: the way in which the call is carried out, its
// root, its mark, and the low bits of its number on the communicator. So messages of calls that differ in any of these
// never match. How many bits each has depends on the number of ranks: root, mark and number together have tagShared.
// The mark is a few bits of a hash; see past.
const (
	tagBits   = 28
	wayBits   = 6
	tagShared = tagBits - wayBits
)

const _ = uint(1<<(tagShared-2) - comm.MaxRanks) // two bits are left for numbers

// way is a collective and how it is carried out. Ranks that disagree about a length may choose different ones.
type way uint8

const (
	wayFinalize way = iota // Finalize's barrier, which is no numbered call
	wayRound               // the barrier and check before numbers are used again; see beginCall
	wayCompare             // the exchange before a call where ranks compare what they call; see collcheck.go
	wayBarrier
	wayBcastTree
	wayBcastRing
	wayReduceTree
	wayReduceParts // all segments of a vector but the last
	wayReduceEnd   // the last one
	wayAllreduceSwap
	wayAllreduceRing
	wayGatherTree
	wayGatherAll
	wayGatherv
	wayScatterTree
	wayScatterAll
	wayScatterv
	wayAllgatherSteps
	wayAllgatherRing
	wayAllgatherv
	wayAlltoallAll
	wayAlltoallPairs
	wayAlltoallv
	wayAlltoallBruck
	wayAllgathervSteps
	wayScan
	wayScanParts // all segments of a vector but the last, in each round
	wayScanEnd   // the last one
	wayExscan
	wayExscanParts
	wayExscanEnd
	wayBlockHalving
	wayBlockShares
	wayReduceScatterHalving
	wayReduceScatterShares
	wayNearAllgather // of a neighbourhood
	wayNearAllgatherv
	wayNearAlltoall
	wayNearAlltoallv
	wayNearAlltoallw
	wayBoardMake    // the exchanges in which ranks make a board, before the call; see makeBoard
	wayBoardBarrier // over the board
	wayBoardBcast
	wayBoardBcastLong // in chunks
	wayBoardReduce
	wayBoardReduceLong
	wayBoardAllreduce
	wayBoardAllreduceLong
	wayBoardGather
	wayBoardScatter
	wayBoardAllgather
	wayBoardAllgatherLong
	wayBoardAllgatherParts // in chunks, or from the memory of the others
	wayBoardAlltoall
	wayBoardAlltoallLong
	wayBoardAlltoallParts
	wayBoardBlock
	wayTierBarrier // over the boards of several nodes
	wayTierBcast
	wayTierBcastLong
	wayTierAllreduce
	wayTierAllreduceLong
	wayTierAllgather
	wayFree // no call, and no way of messages: the communicator has been freed; only answers have it
	ways
)

const _ = uint(1<<wayBits - wayFree) // those of messages fit

var wayNames = [ways]string{
	wayFinalize: "Finalize", wayRound: "a check of numbers", wayCompare: "a comparison of calls",
	wayBarrier:   "Barrier",
	wayBcastTree: "Bcast", wayBcastRing: "Bcast",
	wayReduceTree: "Reduce", wayReduceParts: "Reduce", wayReduceEnd: "Reduce",
	wayAllreduceSwap: "Allreduce", wayAllreduceRing: "Allreduce",
	wayGatherTree: "Gather", wayGatherAll: "Gather", wayGatherv: "Gatherv",
	wayScatterTree: "Scatter", wayScatterAll: "Scatter", wayScatterv: "Scatterv",
	wayAllgatherSteps: "Allgather", wayAllgatherRing: "Allgather", wayAllgatherv: "Allgatherv",
	wayAlltoallAll: "Alltoall", wayAlltoallPairs: "Alltoall", wayAlltoallv: "Alltoallv",
	wayAlltoallBruck: "Alltoall", wayAllgathervSteps: "Allgatherv",
	wayScan: "Scan", wayScanParts: "Scan", wayScanEnd: "Scan",
	wayExscan: "Exscan", wayExscanParts: "Exscan", wayExscanEnd: "Exscan",
	wayBlockHalving: "ReduceScatterBlock", wayBlockShares: "ReduceScatterBlock",
	wayReduceScatterHalving: "ReduceScatter", wayReduceScatterShares: "ReduceScatter",
	wayNearAllgather: "NeighborAllgather", wayNearAllgatherv: "NeighborAllgatherv",
	wayNearAlltoall: "NeighborAlltoall", wayNearAlltoallv: "NeighborAlltoallv", wayNearAlltoallw: "NeighborAlltoallw",
	wayBoardMake:    "the making of a board",
	wayBoardBarrier: "Barrier", wayBoardBcast: "Bcast", wayBoardReduce: "Reduce", wayBoardAllreduce: "Allreduce",
	wayBoardGather: "Gather", wayBoardScatter: "Scatter", wayBoardAllgather: "Allgather",
	wayBoardAlltoall: "Alltoall", wayBoardBlock: "ReduceScatterBlock",
	wayBoardBcastLong: "Bcast", wayBoardReduceLong: "Reduce", wayBoardAllreduceLong: "Allreduce",
	wayBoardAllgatherLong:  "Allgather",
	wayBoardAllgatherParts: "Allgather", wayBoardAlltoallLong: "Alltoall", wayBoardAlltoallParts: "Alltoall",
	wayTierBcastLong: "Bcast", wayTierAllreduceLong: "Allreduce",
	wayTierBarrier: "Barrier", wayTierBcast: "Bcast", wayTierAllreduce: "Allreduce", wayTierAllgather: "Allgather",
	wayFree: "Free",
}

// comesBefore tells that messages of this way come before those of the call whose number they have.
func (w way) comesBefore() bool {
	return w == wayRound || w == wayCompare || w == wayBoardMake
}

// overMemory tells that a call goes this way over the memory of its node.
func (w way) overMemory() bool { return w >= wayBoardBarrier && w < wayFree }

// repeating has a bit for each way in which a rank may send another several messages with one tag.
const repeating uint64 = 1<<wayFinalize | 1<<wayTierAllreduce | 1<<wayTierAllreduceLong | 1<<wayBcastRing |
	1<<wayReduceParts | 1<<wayReduceEnd | 1<<wayAllreduceRing | 1<<wayBoardMake |
	1<<wayAllgatherRing | 1<<wayAllgatherv | 1<<wayScanParts | 1<<wayScanEnd |
	1<<wayExscan | 1<<wayExscanParts | 1<<wayExscanEnd |
	1<<wayNearAllgather | 1<<wayNearAllgatherv | 1<<wayNearAlltoall | 1<<wayNearAlltoallv | 1<<wayNearAlltoallw

func (w way) repeats() bool { return repeating>>(w&63)&1 != 0 }

// String is the name of the collective.
func (w way) String() string {
	if w < ways {
		return wayNames[w]
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
func collTag(size int, w way, root int, call uint64) int {
	n := numberBits(size)
	return int(w)<<tagShared | root<<(n+markBits(size)) | int(call&(1<<n-1))
}

// tagged is the tag of messages of the call that go by a way, from or to root.
func (x *Call) tagged(w way, root int) int {
	n, m := x.st.numbers&63, x.st.marks&63 // which tells the compiler that no shift is too long
	return int(w)<<tagShared | root<<(n+m) | int(x.mark>>(64-m))<<n | int(x.call&(1<<n-1))
}

// tagWay, tagRoot and tagNumber are the parts of a tag.
func tagWay(tag int) way { return way(tag >> tagShared) }

func tagRoot(size, tag int) int {
	return tag & (1<<tagShared - 1) >> (numberBits(size) + markBits(size))
}

func tagNumber(size, tag int) int { return tag & (1<<numberBits(size) - 1) }

// callText names the call to which a message with that tag belongs, on a rank whose last call is number last.
func callText(size, tag int, last uint64) string {
	return tagWay(tag).String() + callDetail(size, tag, last)
}

// callDetail is callText without the name of the collective.
func callDetail(size, tag int, last uint64) string {
	w := tagWay(tag)
	if w == wayFinalize || w == wayFree {
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
func (w way) rooted() bool {
	switch w {
	case wayBcastTree, wayBcastRing, wayReduceTree, wayReduceParts, wayReduceEnd,
		wayGatherTree, wayGatherAll, wayGatherv, wayScatterTree, wayScatterAll, wayScatterv,
		wayBoardBcast, wayBoardBcastLong, wayBoardReduce, wayBoardReduceLong, wayBoardGather, wayBoardScatter,
		wayTierBcast, wayTierBcastLong:
		return true
	}
	return false
}

// collectiveText names the collective to which a message belongs, and which call that is; "" if it belongs to none.
func (p *Proc) collectiveText(ctx uint16, tag int) (name, detail string) {
	if !isCollective(ctx) || uint(tag) > TagUB {
		return "", ""
	}
	tag = p.callTag(ctx, tag)
	if c := p.colls.withID(int(ctx / 2)); c != nil {
		detail = callDetail(c.coll.size, tag, c.coll.state.Load()/2)
	}
	return tagWay(tag).String(), detail
}

// callTag is the tag of the call that a collective's message belongs to. Where ranks compare what they call, it is
// another than that of the message.
func (p *Proc) callTag(ctx uint16, tag int) int {
	c := p.colls.withID(int(ctx / 2))
	if c == nil || uint(tag) > TagUB || tagWay(tag) != wayCompare {
		return tag
	}
	last := c.coll.state.Load() / 2
	if tagNumber(c.coll.size, tag) != tagNumber(c.coll.size, int(last)) {
		return tag
	}
	if call, ok := c.coll.tagOf(last); ok {
		return call
	}
	return tag
}
