package core

import "testing"

// TestChoices: each choice changes at its limit, and only there.
func TestChoices(t *testing.T) {
	for i, x := range []struct{ got, want any }{
		{bcastAlgorithm(4, bcastLarge, 4), algBcastTree},
		{bcastAlgorithm(4, bcastLarge+1, 4), algBcastRing},
		{bcastAlgorithm(4, bcastLarge+1, 3), algBcastTree},
		{bcastAlgorithm(3, bcastLarge+1, 9), algBcastTree},
		{reduceAlgorithm(ReduceSegment), algReduceTree},
		{reduceAlgorithm(ReduceSegment + 1), algReduceParts},
		{allreduceAlgorithm(3, ReduceLarge, 3), algAllreduceSwap},
		{allreduceAlgorithm(3, ReduceLarge+1, 3), algAllreduceRing},
		{allreduceAlgorithm(3, ReduceLarge+1, 2), algAllreduceSwap},
		{allreduceAlgorithm(2, ReducePair, 9), algAllreduceSwap},
		{allreduceAlgorithm(2, ReducePair+1, 9), algAllreduceRing},
		{allreduceAlgorithm(1, ReducePair+1, 9), algAllreduceSwap},
		{blockAlgorithm(3, scatterLarge), algBlockHalving},
		{blockAlgorithm(3, scatterLarge+1), algBlockShares},
		{blockAlgorithm(2, 1), algBlockShares},
		{reduceScatterAlgorithm(3, scatterLarge), algReduceScatterHalving},
		{reduceScatterAlgorithm(3, scatterLarge+1), algReduceScatterShares},
		{reduceScatterAlgorithm(2, 1), algReduceScatterShares},
		{gathersByTree(3, gatherTree), true},
		{gathersByTree(3, gatherTree+1), false},
		{gathersByTree(2, 1), false},
		{allgathersInSteps(3, allgatherBruck), true},
		{allgathersInSteps(3, allgatherBruck+1), false},
		{allgathersInSteps(2, 1), false},
		{alltoallAlgorithm(alltoallRanks, alltoallBruck), algAlltoallBruck},
		{alltoallAlgorithm(alltoallRanks-1, alltoallBruck), algAlltoallAll},
		{alltoallAlgorithm(alltoallRanks, alltoallBruck+1), algAlltoallAll},
		{alltoallAlgorithm(3, alltoallAtOnce), algAlltoallAll},
		{alltoallAlgorithm(3, alltoallAtOnce+1), algAlltoallPairs},
		{alltoallAlgorithm(2, 1), algAlltoallPairs},
	} {
		if x.got != x.want {
			t.Errorf("choice %d: %v, want %v", i, x.got, x.want)
		}
	}
}
