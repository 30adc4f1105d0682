package mpi

import (
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// A collective of slices is described by an argument.Description, which lies on the caller's stack. The layer below
// carries it out: by Do, which waits, by Start, which does not, or by CollInit, which makes a persistent request. These
// functions fill the description in, and return it.

// sliceCall describes a collective on the two slices in and out for the function what.
func sliceCall[T any](
	k *argument.Description, kind argument.Kind, what string, in, out []T, root int,
) *argument.Description {
	k.Kind, k.What, k.Root, k.Elem = kind, what, root, elemOf[T]()
	k.In.Mem, k.In.N = unsafe.Pointer(unsafe.SliceData(in)), int64(len(in)) // the rest is zero, and costs nothing
	k.Out.Mem, k.Out.N = unsafe.Pointer(unsafe.SliceData(out)), int64(len(out))
	return k
}

// reduction is sliceCall of a collective that combines elements.
func reduction[T any](
	k *argument.Description, kind argument.Kind, what string, in, out []T, op Op[T], root int,
) *argument.Description {
	k.Operator = op.operator()
	return sliceCall(k, kind, what, in, out, root)
}

// setParts gives the slices of a collective their parts, where these differ in length.
func setParts(k *argument.Description, counts, displs, rcounts, rdispls []int) *argument.Description {
	k.In.Parts = argument.Parts{Counts: counts, Displs: displs}
	k.Out.Parts = argument.Parts{Counts: rcounts, Displs: rdispls}
	return k
}

// startColl starts a collective that does not wait.
func startColl(c *Comm, k *argument.Description) (Request, error) {
	r, err := c.core().Start(k)
	return Request(r), err
}

// initColl makes a persistent request for a collective.
func initColl(c *Comm, k *argument.Description) (Request, error) {
	r, err := c.core().CollInit(k)
	return Request(r), err
}
