package rma_test

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// pair makes two ranks in this process.
func pair() (ms [2]*rma.Memory, stop func(), err error) {
	cs, err := local.New(2, conduit.Config{})
	if err != nil {
		return ms, nil, err
	}
	for i, c := range cs {
		e, err := am.New(c, am.Config{})
		if err != nil {
			return ms, nil, err
		}
		if ms[i], err = rma.New(e, rma.Config{SegmentSize: 1 << 16}); err != nil {
			return ms, nil, err
		}
	}
	return ms, func() {
		for i, c := range cs {
			ms[i].Close()
			_ = c.Close() // the process ends
		}
	}, nil
}

// The first access to a peer asks it for the size of its segment; until then it has to poll. Here both ranks are in
// one process, so each waits for a count that the other has put.
func Example() {
	ms, stop, err := pair()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	done := make(chan error)
	go func() { // rank 1
		err := ms[1].WaitCounter(0, 1, 0)
		fmt.Printf("rank 1 has %q\n", ms[1].Segment()[100:105])
		if err == nil {
			err = ms[1].PutNotify(0, 0, nil, 0, 1)
		}
		done <- err
	}()
	if err := ms[0].PutNotify(1, 100, []byte("hello"), 0, 1); err != nil {
		fmt.Println(err)
	}
	if err := ms[0].WaitCounter(0, 1, 1); err != nil {
		fmt.Println(err)
	}
	if err := <-done; err != nil {
		fmt.Println(err)
	}
	// Output: rank 1 has "hello"
}

// Atomics need no help from the owner of the memory; here a rank uses its own.
func ExampleFetchAdd() {
	ms, stop, err := pair()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	for range 3 {
		if _, err := rma.FetchAdd(ms[0], 0, 8, 2.5); err != nil {
			fmt.Println(err)
		}
	}
	v, err := rma.Load[float64](ms[0], 0, 8)
	fmt.Println(v, err)
	// Output: 7.5 <nil>
}

// Implicit operations are waited for together; a region collects some of them under a handle.
func ExampleContext_BeginRegion() {
	ms, stop, err := pair()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer stop()
	m := ms[0]
	c := m.NewContext()
	if err := c.BeginRegion(); err != nil {
		fmt.Println(err)
	}
	for i := range 10 {
		if err := c.Put(0, int64(i), []byte{byte(i)}); err != nil {
			fmt.Println(err)
		}
	}
	h, err := c.EndRegion()
	if err == nil {
		err = h.Wait()
	}
	fmt.Println(m.Segment()[:10], err)
	// Output: [0 1 2 3 4 5 6 7 8 9] <nil>
}
