package jobtest

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/golci/golci/realm"
)

type lockArgs struct {
	ID     realm.ReservationID[int64]
	Mode   realm.Mode
	Answer realm.Event // triggered when the reservation is held
}

var (
	// hold acquires a reservation and keeps it.
	hold = realm.Register("hold", func(c *realm.Ctx, a lockArgs) error {
		err := c.Wait(a.ID.On(c).Acquire(a.Mode, realm.NoEvent))
		if err == nil {
			err = c.Runtime().UserEvent(a.Answer).Trigger(realm.NoEvent)
		}
		return err
	})
	// create makes a reservation and tells rank 0 its name.
	create = realm.Register("create", func(c *realm.Ctx, _ struct{}) error {
		r, err := realm.NewReservation[int64](c)
		realm.Spawn(c, realm.ProcessorOf(0), created, r.ID())
		return err
	})
	created realm.Task[realm.ReservationID[int64]]
	names   = make(chan realm.ReservationID[int64], 1)
)

func init() {
	created = realm.Register("created", func(_ *realm.Ctx, id realm.ReservationID[int64]) error {
		names <- id
		return nil
	})
}

// locksMourn has rank 1 own, share, have created, and wait for reservations.
func locksMourn(rt *realm.Runtime) {
	ctx, dying := context.Background(), realm.ProcessorOf(1)
	fresh := func() realm.Reservation[int64] {
		r, err := realm.NewReservation[int64](rt)
		if err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
		return r
	}
	held := func(p realm.Processor, id realm.ReservationID[int64], m realm.Mode) {
		u := rt.NewUserEvent()
		realm.Spawn(rt, p, hold, lockArgs{id, m, u.Event()})
		if err := rt.Wait(ctx, u.Event()); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
	}
	owned, shared, queued := fresh(), fresh(), fresh()
	realm.Spawn(rt, dying, create, struct{}{})
	made := (<-names).On(rt)
	held(dying, owned.ID(), realm.Exclusive)
	shared.Acquire(1, realm.NoEvent)
	held(dying, shared.ID(), 1)
	held(realm.ProcessorOf(2), made.ID(), realm.Exclusive)
	queued.Acquire(realm.Exclusive, realm.NoEvent)
	realm.Spawn(rt, dying, hold, lockArgs{queued.ID(), realm.Exclusive, realm.NoEvent})
	waits := map[string]realm.Event{
		"owned":  owned.Acquire(realm.Exclusive, realm.NoEvent),
		"shared": shared.Acquire(realm.Exclusive, realm.NoEvent),
		"made":   made.Acquire(realm.Exclusive, realm.NoEvent),
	}
	time.Sleep(100 * time.Millisecond)
	fmt.Println("waits")
	for what, e := range waits {
		fmt.Printf("known: lock_%s at %d: %v\n", what, time.Now().UnixNano(), rt.Wait(ctx, e))
	}
	fmt.Printf("known: lock_later at %d: %v\n", time.Now().UnixNano(), rt.Wait(ctx, owned.Acquire(2, realm.NoEvent)))
	err := queued.Release(realm.NoEvent)
	held(realm.ProcessorOf(2), queued.ID(), realm.Exclusive)
	fmt.Printf("known: lock_survivor at %d: %v\n", time.Now().UnixNano(), err)
}

// locksWant is what locksMourn tells. A reservation that the dead rank owned, held or had created ends, and its waiters
// learn why. One that it waited for goes on.
var locksWant = map[string]string{
	"lock_owned": "rank 1 owned it and died", "lock_shared": "rank 1 held it and died",
	"lock_made": "rank 1 made it and died", "lock_later": "rank 1 owned it and died", "lock_survivor": "<nil>",
}
