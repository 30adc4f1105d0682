package algorithm

import "testing"

// TestChoices: each choice changes at its limit, and only there.
func TestChoices(t *testing.T) {
	for i, x := range []struct{ got, want any }{
		{ChooseBcast(4, bcastLarge, 4), BcastTree},
		{ChooseBcast(4, bcastLarge+1, 4), BcastRing},
		{ChooseBcast(4, bcastLarge+1, 3), BcastTree},
		{ChooseBcast(3, bcastLarge+1, 9), BcastTree},
		{ChooseReduce(ReduceSegment), ReduceTree},
		{ChooseReduce(ReduceSegment + 1), ReduceParts},
		{ChooseAllreduce(3, ReduceLarge, 3), AllreduceSwap},
		{ChooseAllreduce(3, ReduceLarge+1, 3), AllreduceRing},
		{ChooseAllreduce(3, ReduceLarge+1, 2), AllreduceSwap},
		{ChooseAllreduce(2, ReducePair, 9), AllreduceSwap},
		{ChooseAllreduce(2, ReducePair+1, 9), AllreduceRing},
		{ChooseAllreduce(1, ReducePair+1, 9), AllreduceSwap},
		{ChooseBlock(3, scatterLarge), BlockHalving},
		{ChooseBlock(3, scatterLarge+1), BlockShares},
		{ChooseBlock(2, 1), BlockShares},
		{ChooseReduceScatter(3, scatterLarge), ReduceScatterHalving},
		{ChooseReduceScatter(3, scatterLarge+1), ReduceScatterShares},
		{ChooseReduceScatter(2, 1), ReduceScatterShares},
		{GathersByTree(3, gatherTree), true},
		{GathersByTree(3, gatherTree+1), false},
		{GathersByTree(2, 1), false},
		{AllgathersInSteps(3, allgatherBruck), true},
		{AllgathersInSteps(3, allgatherBruck+1), false},
		{AllgathersInSteps(2, 1), false},
		{ChooseAlltoall(alltoallRanks, alltoallBruck), AlltoallBruck},
		{ChooseAlltoall(alltoallRanks-1, alltoallBruck), AlltoallAll},
		{ChooseAlltoall(alltoallRanks, alltoallBruck+1), AlltoallAll},
		{ChooseAlltoall(3, alltoallAtOnce), AlltoallAll},
		{ChooseAlltoall(3, alltoallAtOnce+1), AlltoallPairs},
		{ChooseAlltoall(2, 1), AlltoallPairs},
	} {
		if x.got != x.want {
			t.Errorf("choice %d: %v, want %v", i, x.got, x.want)
		}
	}
}
