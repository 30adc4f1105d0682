package coll

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/transport/selection"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/signature"
)

// TestLongParts: parts come whole, however each rank takes its own. Rank 0 tries both ways, and the others take the way
// that it had in the call before, so the ways of a call differ, too.
func TestLongParts(t *testing.T) {
	for size, lengths := range map[int][]int{
		2: {algorithm.ShmGets, algorithm.ShmGets + 4099},
		4: {algorithm.ShmGets + 4099},
	} {
		for _, n := range lengths {
			run(t, size, func(c *testComm) error {
				for range shmFrom {
					if err := c.Barrier(); err != nil {
						return err
					}
				}
				if !c.shared.gets {
					return errors.New("ranks do not get from each other's memory")
				}
				for call := range 4 * selection.Trials {
					if err := exchangesParts(c, n, call); err != nil {
						return fmt.Errorf("%d bytes, call %d: %w", n, call, err)
					}
				}
				ways := c.shared.parts.classOf(n)
				for w := range partMethodCount {
					if c.Rank() == 0 && ways.picker.Cost(w) == 0 {
						return fmt.Errorf("way %d was not tried", w)
					}
				}
				return nil
			}, "GOLCI_COLLECTIVES", "memory")
		}
	}
}

// exchangesParts makes an alltoall of parts of n bytes, or an allgather of two ranks in turn.
func exchangesParts(c *testComm, n, call int) error {
	size, gathers := c.Size(), c.Size() == 2 && call%2 == 1
	at := func(from, to, i int) byte {
		if gathers {
			to = 0
		}
		return byte(7*from + 31*to + 3*call + i + i>>12)
	}
	parts := size
	if gathers {
		parts = 1
	}
	in, out := make([]byte, parts*n), make([]byte, size*n)
	for i := range in {
		in[i] = at(c.Rank(), i/n, i%n)
	}
	k := argument.Description{
		Kind: argument.KindAlltoall, What: "Alltoall", Elem: signature.ByteElem,
		In: argument.SideOf(in), Out: argument.SideOf(out),
	}
	if gathers {
		k.Kind = argument.KindAllgather
	}
	if err := c.Do(&k); err != nil {
		return err
	}
	for i, b := range out {
		if want := at(i/n, c.Rank(), i%n); b != want {
			return fmt.Errorf("byte %d of rank %d's part is %d, want %d", i%n, i/n, b, want)
		}
	}
	return nil
}

// TestLongPartsDiffer: ranks whose parts differ in length all get an error, whichever way they take them, and though
// calls are not checked.
func TestLongPartsDiffer(t *testing.T) {
	for _, way := range []string{"stream", "get"} {
		run(t, 2, func(c *testComm) error {
			for range shmFrom {
				if err := c.Barrier(); err != nil {
					return err
				}
			}
			if exchangesParts(c, algorithm.ShmGets+c.Rank(), 0) == nil {
				return fmt.Errorf("%s: no error", way)
			}
			return nil
		}, "GOLCI_COLLECTIVES", "memory", "GOLCI_RENDEZVOUS", way, "GOLCI_CHECK", "off")
	}
}
