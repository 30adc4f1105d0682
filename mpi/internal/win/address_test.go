package win

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/epoch"
)

// TestSharedAddresses: the parts of a shared window lie one behind the other, as every rank sees them, and a part of no
// bytes begins where the next one does (12.2.3).
func TestSharedAddresses(t *testing.T) {
	for _, empty := range []func(rank, size int) bool{
		func(rank, _ int) bool { return rank == 0 },
		func(rank, size int) bool { return rank == size-1 },
		func(rank, _ int) bool { return rank%2 == 1 },
		func(_, _ int) bool { return true },
	} {
		each(t, func(c *core.Comm) error {
			length := func(rank int) int64 {
				if empty(rank, c.Size()) {
					return 0
				}
				return int64(8 * (rank + 1))
			}
			w, err := AllocateShared(c, length(c.Rank()), 1)
			if err != nil {
				return err
			}
			first, at := w.Address(0), int64(0)
			for r := range c.Size() {
				mem, _, err := w.Query(r)
				if err != nil || int64(len(mem)) != length(r) || first == nil || w.Address(r) != unsafe.Add(first, at) {
					return fmt.Errorf("rank %d: %d bytes at %p, want %d at %p: %w", r, len(mem), w.Address(r), length(r),
						unsafe.Add(first, at), err)
				}
				if at > 0 && w.Address(epoch.ProcNull) == nil {
					return fmt.Errorf("no memory for %d bytes", at)
				}
				at += length(r)
			}
			if w.Address(c.Size()) != nil || w.Address(-1) != nil {
				return fmt.Errorf("there is no rank %d", c.Size())
			}
			return w.Free()
		})
	}
}
