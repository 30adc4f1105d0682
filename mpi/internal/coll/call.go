package coll

import (
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/signature"
)

// A collective of a program in Go or in C, of one group or of two, is described by a Coll. Do and Start carry it out
// (6.1, 6.12). The way of a call: beginCall gives it its number and
// the state that is kept for it. setSlices or setDatatypes make the buffers. choose finds the algorithm and makes the
// schedule. Finish carries that out, or Launch starts it.

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
	N     int64       // elements: of each part if there are several; of slices all, until describeSlices
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

// Description describes a collective as the program calls it. A rank looks only at what it uses. The buffers have datatypes;
// or they are slices of a Go program, of elements Elem. In of a slice, an InPlace is told by Mem.
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

// Do carries out a collective and waits for its end. Errors of the arguments of slices fail the call on all ranks.
// Those of datatypes are found before the call has a number: the other ranks do not learn of them, and the next call
// of this rank may take its place.
func (v *View) Do(k *Description) error {
	if k.Elem == nil || v.byPeers(k) {
		return v.doDescribed(k)
	}
	x, err := v.beginCall(k.What, k.Elem.Err(), false)
	if err != nil {
		return err
	}
	return x.Finish(x.setSlices(k))
}

// doDescribed is Do of buffers with datatypes, or of slices between two groups or in a neighbourhood.
func (v *View) doDescribed(k *Description) error {
	if k.Elem != nil {
		if err := v.describeSlices(k); err != nil {
			return err
		}
	} else if done, err := v.doDense(k); done {
		return err
	}
	return v.doDatatypes(k)
}

// doDatatypes is Do of buffers with any datatypes.
func (v *View) doDatatypes(k *Description) error {
	g, o, err := v.readArgs(k)
	if err != nil {
		return err
	}
	x, err := v.beginCall(k.What, nil, false)
	if err != nil {
		return err
	}
	err = x.Finish(x.setDatatypes(k, g, o))
	x.args.endGiven(err == nil)
	return err
}

// Start is Do that does not wait.
func (v *View) Start(k *Description) (comm.Req, error) {
	if k.Elem != nil && !v.byPeers(k) {
		x, err := v.beginCall(k.What, k.Elem.Err(), true)
		if err != nil {
			return comm.Req{}, err
		}
		return x.Launch(x.setSlices(k))
	}
	if k.Elem != nil {
		if err := v.describeSlices(k); err != nil {
			return comm.Req{}, err
		}
	}
	g, o, err := v.readArgs(k)
	if err != nil {
		return comm.Req{}, err
	}
	x, err := v.beginCall(k.What, nil, true)
	if err != nil {
		return comm.Req{}, err
	}
	return x.Launch(x.setDatatypes(k, g, o))
}

// Prepare looks at the arguments of a collective that is to be started again and again: those with datatypes, and those
// of neighbourhoods, which it describes.
func (v *View) Prepare(k *Description) error {
	if k.Elem != nil && k.neighbors() {
		return v.describeSlices(k)
	}
	if k.Elem == nil {
		_, _, err := v.readArgs(k)
		return err
	}
	return nil
}

// choose finds the algorithm of a collective of one group, and sets the schedule. in and out are the parts of the
// buffers where they differ in length.
func (x *Call) choose(k Kind, root int, in, out *Parts) error {
	switch k {
	case KindBarrier:
		return x.chooseBarrier()
	case KindBcast:
		return x.chooseBcast(root)
	case KindGather:
		return x.chooseEqualParts(&gathering, root)
	case KindGatherv:
		return x.chooseGivenParts(&gathering, out, root)
	case KindScatter:
		return x.chooseEqualParts(&scattering, root)
	case KindScatterv:
		return x.chooseGivenParts(&scattering, in, root)
	case KindAllgather:
		return x.chooseAllgather()
	case KindAllgatherv:
		return x.chooseAllgatherv(out)
	case KindAlltoall:
		return x.chooseAlltoall()
	case KindAlltoallv, KindAlltoallw:
		return x.chooseAlltoallv(in, out)
	case KindReduce:
		return x.chooseReduce(root)
	case KindAllreduce:
		return x.chooseAllreduce()
	case KindReduceScatter:
		return x.chooseReduceScatter(out)
	case KindReduceScatterBlock:
		return x.chooseReduceScatterBlock()
	case KindScan:
		return x.chooseScan(&inclusive, true)
	case KindExscan:
		return x.chooseScan(&exclusive, !x.emptyPrefix())
	}
	return x.callErrorf(errs.UnsupportedOperation, "there is no collective %d", k)
}
