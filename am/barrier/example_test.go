package barrier_test

import (
	"errors"
	"fmt"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/barrier"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// Three ranks of one process meet under a name, and then find out that one of them means something else.
func Example() {
	conduits, err := local.New(3, conduit.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	var wg sync.WaitGroup
	for rank, c := range conduits {
		e, err := am.New(c, am.Config{})
		if err != nil {
			fmt.Println(err)
			return
		}
		b, err := barrier.New(e)
		if err != nil {
			fmt.Println(err)
			return
		}
		wg.Go(func() {
			if err := b.Notify(7, barrier.Named); err != nil {
				fmt.Println(err)
			}
			// Work that needs nobody else goes here.
			if err := b.Wait(7, barrier.Named); err != nil {
				fmt.Println(err)
			}
			err := b.Enter(uint64(rank), barrier.Named)
			if rank == 0 {
				fmt.Println("mismatch:", errors.Is(err, barrier.ErrMismatch))
			}
		})
	}
	wg.Wait()
	for _, c := range conduits {
		if err := c.Close(); err != nil {
			fmt.Println(err)
		}
	}
	// Output: mismatch: true
}
