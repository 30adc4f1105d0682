package realm_test

import (
	"context"
	"fmt"

	"github.com/golci/golci/realm"
)

var add = realm.RegisterReduction("example add", func(a, b int) int { return a + b })

var contribute = realm.Register("example contribute", func(c *realm.Ctx, id realm.BarrierID[int]) error {
	b := id.On(c)
	return b.Arrive(1, 10+c.Runtime().Rank(), realm.NoEvent)
})

// Three tasks arrive at each phase of a barrier, on three ranks. Their values become its result. Results are kept for 16
// phases: who reads them must not fall further behind, and so waits for each phase.
func ExampleBarrier() {
	err := realm.Run(3, func(rt *realm.Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		b, err := realm.NewBarrier(rt, 3, add)
		if err != nil {
			return err
		}
		for range 2 {
			for r := range rt.Size() {
				realm.Spawn(rt, realm.ProcessorOf(r), contribute, b.ID())
			}
			if err := rt.Wait(context.Background(), b.Event()); err != nil {
				return err
			}
			sum, err := b.Result()
			fmt.Printf("phase %d: %d, %v\n", b.Phase(), sum, err)
			b = b.Next()
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// phase 1: 33, <nil>
	// phase 2: 33, <nil>
}
