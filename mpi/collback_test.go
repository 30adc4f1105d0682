package mpi

import (
	"errors"
	"fmt"
	"testing"
)

// TestLeftoverIsFound: a message that no call has received is found by the next call that receives, wherever numbers
// are: what ranks have called before is in the tags of messages.
func TestLeftoverIsFound(t *testing.T) {
	for _, from := range []uint64{2, 60, 100, 4090} {
		must(t, 2, func(x *Comm) error {
			if err := x.core().SkipTo(from); err != nil {
				return err
			}
			if err := Bcast(x, []int{666}, x.Rank()); err != nil { // both send
				return err
			}
			v := []int{7}
			if err := Allreduce(x, InPlace(v), v, Max); !errors.Is(err, ErrMismatch) {
				return fmt.Errorf("the call after call %d gave %d, %w", from+1, v[0], err)
			}
			return nil
		}, With("GOLCI_CHECK", "off"))
	}
}
