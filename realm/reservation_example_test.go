package realm_test

import (
	"context"
	"fmt"

	"github.com/golci/golci/realm"
)

// account is what a reservation protects.
type account struct {
	Balance, Deposits int64
}

var deposit = realm.Register("deposit", func(c *realm.Ctx, id realm.ReservationID[account]) error {
	r := id.On(c)
	if err := c.Wait(r.Acquire(realm.Exclusive, realm.NoEvent)); err != nil {
		return err
	}
	a := r.Payload()
	a.Balance += 10
	a.Deposits++
	return r.Release(realm.NoEvent)
})

// Tasks on two ranks change one payload, which moves with the reservation.
func ExampleReservation() {
	err := realm.Run(2, func(rt *realm.Runtime) error {
		if rt.Rank() != 0 {
			return nil
		}
		r, err := realm.NewReservation[account](rt)
		if err != nil {
			return err
		}
		var all []realm.Event
		for i := range 10 {
			all = append(all, realm.Spawn(rt, realm.ProcessorOf(i%2), deposit, r.ID()))
		}
		grant := r.Acquire(1, rt.Merge(all...)) // shared: it only reads
		if err := rt.Wait(context.Background(), grant); err != nil {
			return err
		}
		fmt.Println(*r.Payload())
		return r.Release(realm.NoEvent)
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: {100 10}
}
