package core

import (
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// onShm is how a call goes through the shared segment. Its way differs where what lies on the shared segment does:
// ranks that disagree about a length, and look for each other's bytes in different places, then find that out.
type onShm struct {
	alg algorithm.Algorithm
	do  func(x *Call, root int) error // nil: the call is one by messages
}

// Which calls go through the shared segment, where there is one.

func (x *Call) shmBcast(n int) onShm {
	switch {
	case x.tiers() && n <= shmcoll.Short:
		return onShm{algorithm.TierBcast, tierBcast}
	case x.tiers():
		return onShm{algorithm.TierBcastLong, tierBcast}
	case !x.canUseShm():
		return onShm{}
	case n <= shmcoll.Short:
		return onShm{algorithm.ShmBcast, shmBcast}
	case n <= algorithm.ShmMostOfTwo || x.size > 2:
		return onShm{algorithm.ShmBcastLong, shmBcastLong}
	}
	return onShm{}
}

func (x *Call) shmAllgather(n int) onShm {
	switch {
	case x.tiers() && x.st.shared.blocks && n <= shmcoll.Short:
		return onShm{algorithm.TierAllgather, tierAllgather}
	case !x.canUseShm():
		return onShm{}
	case n <= shmcoll.Short:
		return onShm{algorithm.ShmAllgather, shmAllgather}
	case n >= algorithm.ShmGets && x.size == 2 && x.st.shared.gets:
		return onShm{algorithm.ShmAllgatherParts, shmAllgatherParts}
	}
	return onShm{algorithm.ShmAllgatherLong, shmAllgatherLong}
}

// shmAlltoall is for parts of n bytes. What is in place would be overwritten before it has left.
func (x *Call) shmAlltoall(n int, inPlace bool) onShm {
	switch {
	case !x.canUseShm():
		return onShm{}
	case n*x.size <= shmcoll.Short:
		return onShm{algorithm.ShmAlltoall, shmAlltoall}
	case inPlace:
		return onShm{}
	case n >= algorithm.ShmGets && x.st.shared.gets:
		return onShm{algorithm.ShmAlltoallParts, shmAlltoallParts}
	}
	return onShm{algorithm.ShmAlltoallLong, shmAlltoallLong}
}

// halved tells that the nodes are halves of the ranks, and so on, and that a block has an element for each rank.
func (x *Call) halved(elem int) bool { return x.st.shared.halves && elem*x.size <= shmcoll.ChunkBytes }

func (x *Call) shmAllreduce(n, elem int) onShm {
	switch {
	case x.tiers() && n <= shmcoll.Short && x.halved(elem):
		return onShm{algorithm.TierAllreduce, tierAllreduce}
	case x.tiers() && x.halved(elem):
		return onShm{algorithm.TierAllreduceLong, tierAllreduce}
	case !x.canUseShm():
		return onShm{}
	case n <= shmcoll.Short:
		return onShm{algorithm.ShmAllreduce, shmAllreduce}
	case elem*x.size <= shmcoll.ChunkBytes:
		return onShm{algorithm.ShmAllreduceLong, shmAllreduceLong}
	}
	return onShm{}
}

func (x *Call) shmReduce(n, elem int) onShm {
	switch {
	case !x.canUseShm():
		return onShm{}
	case n <= shmcoll.Short:
		return onShm{algorithm.ShmReduce, shmReduce}
	case n >= algorithm.ShmReduceLeast && (n <= algorithm.ShmMostOfTwo || x.size > 2) &&
		elem*x.size <= shmcoll.ChunkBytes:
		return onShm{algorithm.ShmReduceLong, shmReduceLong}
	}
	return onShm{}
}

// shmRooted is for a gather or scatter of n bytes of each rank.
func (x *Call) shmRooted(d *direction, n int) func(*Call, int) error {
	switch {
	case !x.canUseShm():
		return nil
	case d.down && n*x.size <= shmcoll.Short:
		return shmScatter
	case !d.down && n <= shmcoll.Short:
		return shmGather
	}
	return nil
}

// scanAlgorithm is for a vector of n bytes.
func scanAlgorithm(k *prefix, n int) algorithm.Algorithm {
	if n > algorithm.ReduceSegment {
		return k.parts
	}
	return k.whole
}
