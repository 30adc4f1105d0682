package realm_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/golci/golci/realm"
)

type registryCheck struct {
	Number int
}

var hello = realm.Register("hello", func(c *realm.Ctx, g registryCheck) error {
	fmt.Printf("task %d on rank %d\n", g.Number, c.Runtime().Rank())
	return nil
})

// Tasks on two ranks run in the order that their events ask for. The program only waits for the last one.
func Example() {
	err := realm.Run(2, func(rt *realm.Runtime) error {
		if rt.Rank() != 0 {
			return nil // it serves until all is quiet
		}
		done := realm.NoEvent
		for i := range 4 {
			done = realm.Spawn(rt, realm.ProcessorOf(i%2), hello, registryCheck{Number: i}, realm.After(done))
		}
		return rt.Wait(context.Background(), done)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// task 0 on rank 0
	// task 1 on rank 1
	// task 2 on rank 0
	// task 3 on rank 1
}

// A user event holds work back until the program triggers it. Poison goes along the events that depend on it.
func ExampleRuntime_NewUserEvent() {
	err := realm.Run(1, func(rt *realm.Runtime) error {
		start, permit := rt.NewUserEvent(), rt.NewUserEvent()
		both := rt.Merge(start.Event(), permit.Event())
		done := realm.SpawnLocal(rt, rt.CPU(0), func(*realm.Ctx) error {
			fmt.Println("never runs")
			return nil
		}, realm.After(both))
		if err := start.Trigger(realm.NoEvent); err != nil {
			return err
		}
		if err := permit.Cancel(errors.New("no permit")); err != nil {
			return err
		}
		err := rt.Wait(context.Background(), done)
		var poison *realm.PoisonError
		if errors.As(err, &poison) {
			fmt.Printf("poisoned by rank %d: %s\n", poison.Rank, poison.Cause)
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: poisoned by rank 0: no permit
}
