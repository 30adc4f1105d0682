package mpi

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/dtype"
)

// TestGivenShapes: the element types of collectives with datatypes are compared, by memory and by messages. What has
// one type signature passes, and no elements match any.
func TestGivenShapes(t *testing.T) {
	pair := every(t, 2, 1)
	long, float := dtype.Named(dtype.Int64), dtype.Named(dtype.Double)
	for _, c := range []struct {
		name string
		kind argument.Kind
		call func(k *argument.Description, rank int, in, out unsafe.Pointer)
		want [2]error // of each rank
	}{
		{"Bcast, right", argument.KindBcast, func(k *argument.Description, rank int, in, out unsafe.Pointer) {
			k.Out = argument.Side{Mem: out, N: 2, T: long}
			if rank == 0 {
				k.Out.N, k.Out.T = 1, pair
			}
		}, [2]error{}},
		{"Bcast", argument.KindBcast, func(k *argument.Description, rank int, in, out unsafe.Pointer) {
			k.Out = argument.Side{Mem: out, N: 1, T: []*dtype.Type{float, long}[rank]}
		}, [2]error{nil, ErrType}},
		{"Allgather", argument.KindAllgather, func(k *argument.Description, rank int, in, out unsafe.Pointer) {
			of := []*dtype.Type{float, long}[rank]
			k.In, k.Out = argument.Side{Mem: in, N: 1, T: of}, argument.Side{Mem: out, N: 1, T: of}
		}, [2]error{ErrType, ErrType}},
		{"Alltoall, to oneself", argument.KindAlltoall, func(k *argument.Description, rank int, in, out unsafe.Pointer) {
			k.In, k.Out = argument.Side{Mem: in, N: 1, T: float}, argument.Side{Mem: out, N: 1, T: long}
		}, [2]error{ErrType, ErrType}},
		{"Gatherv, nothing of another type", argument.KindGatherv, func(
			k *argument.Description, rank int, in, out unsafe.Pointer,
		) {
			k.In = argument.Side{Mem: in, N: int64(1 - rank), T: []*dtype.Type{long, float}[rank]}
			k.Out = argument.Side{Mem: out, T: long, Parts: argument.Parts{Counts: []int{1, 0}, Displs: []int{0, 1}}}
		}, [2]error{}},
	} {
		for _, way := range []string{"memory", "messages"} {
			t.Run(c.name+" by "+way, func(t *testing.T) {
				_ = Run(2, func(w *Comm) error {
					in, out := make([]int64, 4), make([]int64, 4)
					k := argument.Description{Kind: c.kind, What: "call"}
					c.call(&k, w.Rank(), unsafe.Pointer(&in[0]), unsafe.Pointer(&out[0]))
					err := w.core().Do(&k)
					want := c.want[w.Rank()]
					maybe := w.Rank() == 0 && c.want[1] != nil // it may hear of the other one's error
					if want != nil && !errors.Is(err, want) || want == nil && err != nil && !maybe {
						t.Errorf("rank %d: %v, want %v", w.Rank(), err, want)
					}
					return nil // without another collective
				}, With("GOLCI_COLLECTIVES", way), With("GOLCI_CHECK", "types"))
			})
		}
	}
}
