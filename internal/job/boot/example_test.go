package boot_test

import (
	"context"
	"fmt"

	"github.com/golci/golci/internal/job/boot"
)

// A program that no launcher has started is a job of one rank; under golci run -n 4 the same code prints four lines.
func ExampleJoin() {
	ctx := context.Background()
	job, err := boot.Join(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("rank %d of %d\n", job.Rank, job.Size)
	if err := job.Finalize(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: rank 0 of 1
}

// Ranks exchange their addresses: each puts its own, all meet, and then anybody's can be read.
func ExampleLocal() {
	ctx := context.Background()
	jobs, err := boot.Local(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error)
	for _, job := range jobs {
		go func() {
			if err := job.Put("address", fmt.Appendf(nil, "host-%d:7000", job.Rank)); err != nil {
				done <- err
				return
			}
			done <- job.Fence(ctx)
		}()
	}
	for range jobs {
		if err := <-done; err != nil {
			fmt.Println(err)
		}
	}
	address, err := jobs[0].Get(ctx, 1, "address")
	fmt.Println(string(address), err)
	// Output: host-1:7000 <nil>
}
