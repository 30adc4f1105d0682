package mpi

import "fmt"

// kind is a collective as the program calls it: what errors name, on all ranks. A kind is carried out in one of
// several ways, and kinds may share these: BcastOne and BcastValue are broadcasts. Its number travels in notices.
type kind uint8

const (
	kindFinalize kind = iota
	kindBarrier
	kindBcast
	kindBcastOne
	kindBcastValue
	kindReduce
	kindReduceOne
	kindAllreduce
	kindAllreduceOne
	kindGather
	kindGatherOne
	kindGatherValue
	kindGatherv
	kindScatter
	kindScatterValue
	kindScatterv
	kindAllgather
	kindAllgatherOne
	kindAllgatherValue
	kindAllgatherv
	kindAllgathervAlloc
	kindAlltoall
	kindAlltoallv
	kindDup
	kindDupWith
	kindSplit
	kindIbarrier // from here on those that do not wait
	kindIbcast
	kindIreduce
	kindIallreduce
	kindIgather
	kindIscatter
	kindIallgather
	kindIalltoall
	kinds
)

var kindNames = [kinds]string{
	kindFinalize: "Finalize", kindBarrier: "Barrier",
	kindBcast: "Bcast", kindBcastOne: "BcastOne", kindBcastValue: "BcastValue",
	kindReduce: "Reduce", kindReduceOne: "ReduceOne", kindAllreduce: "Allreduce", kindAllreduceOne: "AllreduceOne",
	kindGather: "Gather", kindGatherOne: "GatherOne", kindGatherValue: "GatherValue", kindGatherv: "Gatherv",
	kindScatter: "Scatter", kindScatterValue: "ScatterValue", kindScatterv: "Scatterv",
	kindAllgather: "Allgather", kindAllgatherOne: "AllgatherOne", kindAllgatherValue: "AllgatherValue",
	kindAllgatherv: "Allgatherv", kindAllgathervAlloc: "AllgathervAlloc",
	kindAlltoall: "Alltoall", kindAlltoallv: "Alltoallv", kindDup: "Dup", kindDupWith: "DupWith", kindSplit: "Split",
	kindIbarrier: "Ibarrier", kindIbcast: "Ibcast", kindIreduce: "Ireduce", kindIallreduce: "Iallreduce",
	kindIgather: "Igather", kindIscatter: "Iscatter", kindIallgather: "Iallgather", kindIalltoall: "Ialltoall",
}

// later reports whether the call of such a collective returns before its end.
func (k kind) later() bool { return k >= kindIbarrier }

// String is the name of the function.
func (k kind) String() string {
	if k < kinds {
		return kindNames[k]
	}
	return fmt.Sprintf("unknown collective %d", uint8(k))
}
