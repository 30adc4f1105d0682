package argument

import (
	"unsafe"

	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/signature"
)

// Kind is a collective, in any of its forms: one that waits, one that does not, and one that lasts.
type Kind uint8

// The collectives of chapter 6.
const (
	KindBarrier Kind = iota
	KindBcast
	KindGather
	KindGatherv
	KindScatter
	KindScatterv
	KindAllgather
	KindAllgatherv
	KindAlltoall
	KindAlltoallv
	KindAlltoallw
	KindReduce
	KindAllreduce
	KindReduceScatter
	KindReduceScatterBlock
	KindScan
	KindExscan
	KindNeighborAllgather // of a neighbourhood (8.6), like those after it
	KindNeighborAllgatherv
	KindNeighborAlltoall
	KindNeighborAlltoallv
	KindNeighborAlltoallw
)

// Side is a buffer of a collective as MPI gives it. What the kind does not have is zero.
type Side struct {
	Mem   unsafe.Pointer
	N     int64       // elements: of each part if there are several; of slices all, until DescribeSlices
	T     *dtype.Type // of the elements
	Place bool        // it is MPI_IN_PLACE
	Parts Parts       // of different lengths
	Mixed *MixedParts // of different types, too
}

// Parts are the lengths of the parts of a buffer in elements, and where they lie: in extents of the datatype, or in
// bytes if the parts differ in type. The zero Parts are none.
type Parts struct{ Counts, Displs []int }

// MixedParts are the types of parts, and where each part lies if that is not a place behind Side.Mem.
type MixedParts struct {
	Types []*dtype.Type
	Mems  []unsafe.Pointer
}

// Description describes a collective as the program calls it. A rank looks only at what it uses. The buffers have
// datatypes; or they are slices of a Go program, of elements Elem. In of a slice, an InPlace is told by Mem.
type Description struct {
	Kind     Kind
	What     string // the function, for errors
	Root     int
	In, Out  Side
	Elem     *signature.Elem // of slices; nil: the sides have datatypes
	Op       *op.Op          // of a reduction
	Operator Operator        // of one without Op, whose elements have one dense type
	Err      error           // why this rank cannot take part: the call of slices fails on all ranks
}

// ProcNull is the null process (MPI_PROC_NULL).
const ProcNull = -3

// RootHere is what the root of a collective of two groups gives as root. Other ranks of its group give ProcNull, and
// those of the other group its rank (MPI_ROOT).
const RootHere = schedule.RootHere

// inPlaceMark is where the slices of InPlace begin.
var inPlaceMark uint64

// InPlace is where the memory of a buffer begins that stands for the other one of a collective.
func InPlace() unsafe.Pointer { return unsafe.Pointer(&inPlaceMark) }

// IsInPlace reports whether b is the memory of an InPlace.
func IsInPlace(b []byte) bool {
	return unsafe.Pointer(unsafe.SliceData(b)) == unsafe.Pointer(&inPlaceMark)
}

// Peers is where a rank stands among those that a collective is about.
type Peers struct {
	Rank  int                  // in its group
	Group int                  // ranks of that
	Other int                  // ranks of the other one of two groups; 0: there is one
	Near  *schedule.Neighbours // for a collective of a neighbourhood; nil where there is none
}

// betweenGroups tells that there are two groups.
func (p *Peers) betweenGroups() bool { return p.Other != 0 }
