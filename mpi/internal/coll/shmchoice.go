package coll

import (
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// byMessages is what the choices of this file give where a call does not go through the shared segment. The algorithm
// differs where what lies on the shared segment does: ranks that disagree about a length, and look for each other's
// bytes in different places, then find that out.
const byMessages = algorithm.Algorithm(0)

// Which calls go through the shared segment, where there is one.

func (x *Call) shmBcast(n int) algorithm.Algorithm {
	switch {
	case x.tiers() && n <= shmcoll.Short:
		return algorithm.TierBcast
	case x.tiers():
		return algorithm.TierBcastLong
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmBcast
	case n <= algorithm.ShmMostOfTwo || x.size > 2:
		return algorithm.ShmBcastLong
	}
	return byMessages
}

func (x *Call) shmAllgather(n int) algorithm.Algorithm {
	switch {
	case x.tiers() && x.st.shared.blocks && n <= shmcoll.Short:
		return algorithm.TierAllgather
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmAllgather
	case n >= algorithm.ShmGets && x.size == 2 && x.st.shared.gets:
		return algorithm.ShmAllgatherParts
	}
	return algorithm.ShmAllgatherLong
}

// shmAlltoall is for parts of n bytes. What is in place would be overwritten before it has left.
func (x *Call) shmAlltoall(n int, inPlace bool) algorithm.Algorithm {
	switch {
	case !x.canUseShm():
		return byMessages
	case n*x.size <= shmcoll.Short:
		return algorithm.ShmAlltoall
	case inPlace:
		return byMessages
	case n >= algorithm.ShmGets && x.st.shared.gets:
		return algorithm.ShmAlltoallParts
	}
	return algorithm.ShmAlltoallLong
}

// halved tells that the nodes are halves of the ranks, and so on, and that a block has an element for each rank.
func (x *Call) halved(elem int) bool { return x.st.shared.halves && elem*x.size <= shmcoll.ChunkBytes }

func (x *Call) shmAllreduce(n, elem int) algorithm.Algorithm {
	switch {
	case x.tiers() && n <= shmcoll.Short && x.halved(elem):
		return algorithm.TierAllreduce
	case x.tiers() && x.halved(elem):
		return algorithm.TierAllreduceLong
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmAllreduce
	case elem*x.size <= shmcoll.ChunkBytes:
		return algorithm.ShmAllreduceLong
	}
	return byMessages
}

func (x *Call) shmReduce(n, elem int) algorithm.Algorithm {
	switch {
	case !x.canUseShm():
		return byMessages
	case n <= shmcoll.Short:
		return algorithm.ShmReduce
	case n >= algorithm.ShmReduceLeast && (n <= algorithm.ShmMostOfTwo || x.size > 2) &&
		elem*x.size <= shmcoll.ChunkBytes:
		return algorithm.ShmReduceLong
	}
	return byMessages
}

// shmRooted tells that a gather or scatter of n bytes of each rank goes through the shared segment.
func (x *Call) shmRooted(d *direction, n int) bool {
	if d.down {
		n *= x.size
	}
	return x.canUseShm() && n <= shmcoll.Short
}

// scanAlgorithm is for a vector of n bytes.
func scanAlgorithm(k *prefix, n int) algorithm.Algorithm {
	if n > algorithm.ReduceSegment {
		return k.parts
	}
	return k.whole
}
