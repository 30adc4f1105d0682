package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/mpi/core"
)

// TestLeftoverIsFound: a message that no call has received is found after calls whose number is a power of two, at once
// among the first calls and after some more later on. A call that has to wait for long finds it before.
func TestLeftoverIsFound(t *testing.T) {
	const late = core.MostDoubts - 1
	for _, c := range []struct{ from, found uint64 }{{2, 4}, {60, 64}, {100, 128 + late}, {4090, 4096 + late}} {
		must(t, 2, func(x *Comm) error {
			if err := x.core().SkipTo(c.from); err != nil {
				return err
			}
			if err := Bcast(x, []int{666}, x.Rank()); err != nil { // both send
				return err
			}
			for !x.Proc().Server().Unread() {
				x.Proc().Server().Poll()
			}
			for call := c.from + 2; ; call++ {
				v := []int{int(call)}
				err := Allreduce(x, InPlace(v), v, Max)
				if err == nil && v[0] == int(call) && call < c.found {
					continue
				}
				if call > c.found || !errors.Is(err, ErrMismatch) {
					return fmt.Errorf("call %d gave %d, %v; the message is to be found in call %d",
						call, v[0], err, c.found)
				}
				return nil
			}
		})
	}
}
