package coll

import (
	"math/bits"
	"slices"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// nodes is how the ranks of a communicator lie on nodes, as one of them sees it. It does not change.
type nodes struct {
	ranks       []int // of this rank's node, ascending
	me          int   // the place of this rank among them
	leaders     []int // the first rank of each node, ascending; nil if there is one node
	leaderIndex []int // for each rank the place of its node's leader among leaders; nil if there is one node
	blocks      bool  // each node has a run of ranks
	halves      bool  // besides, all runs are equally long, and a power of two, and so is their number
}

// findNodes exchanges among the ranks on which nodes they are, before the call. It waits.
func (x *Call) findNodes() (nodes, error) {
	mine, all := []uint64{x.st.OfRank.node()}, make([]uint64, x.size)
	x.buf[schedule.In], x.buf[schedule.Out] = bytesIn(mine), bytesIn(all)
	x.takeForShm().AllgatherSteps(x.schedulePlace(), len(x.buf[schedule.In].mem), false)
	err := x.perform()
	return nodesOf(all, x.rank), err
}

// node is a number that the ranks of this node have, and no others of the job.
func (p *RankState) node() uint64 {
	if p.Machine != 0 {
		return p.Machine
	}
	return uint64(p.Rank.Job().LocalRanks[0])
}

// nodesOf makes what a rank knows of nodes, given the node of each.
func nodesOf(all []uint64, rank int) nodes {
	var on nodes
	first := make(map[uint64]int) // place among leaders
	home := make([]int, len(all))
	sizes := []int{}
	on.blocks = true
	for r, node := range all {
		at, known := first[node]
		if !known {
			at = len(on.leaders)
			first[node] = at
			on.leaders, sizes = append(on.leaders, r), append(sizes, 0)
		}
		on.blocks = on.blocks && (!known || all[r-1] == node)
		home[r] = at
		sizes[at]++
		if node == all[rank] {
			on.ranks = append(on.ranks, r)
		}
	}
	on.me = slices.Index(on.ranks, rank)
	if len(on.leaders) == 1 {
		on.leaders = nil
		return on
	}
	on.leaderIndex = home
	on.halves = on.blocks && slices.Min(sizes) == slices.Max(sizes) && bits.OnesCount(uint(sizes[0])) == 1 &&
		bits.OnesCount(uint(len(sizes))) == 1
	return on
}

// worth tells whether shared segments are of use: some node has several ranks. All ranks come to the same.
func (on *nodes) worth() bool {
	most := len(on.ranks)
	if on.leaders != nil {
		sizes := make([]int, len(on.leaders))
		for _, at := range on.leaderIndex {
			sizes[at]++
		}
		most = slices.Max(sizes)
	}
	return most > 1 && most <= shmcoll.MaxRanks
}
