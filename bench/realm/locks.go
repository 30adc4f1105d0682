package realm

import (
	"math/rand/v2"

	"github.com/golci/golci/realm"
)

// locks are the measures of reservations.
func locks() []measure {
	const g = "locks"
	return []measure{
		{group: g, name: "lock", columns: ns("lock"), sizes: once, prepare: lock},
		{group: g, name: "lock-fast", columns: ns("lock-fast"), sizes: once, prepare: lockFast},
		{
			group: g, name: "lock-chain", columns: ns("lock-chain-build", "lock-chain"), sizes: []int{256},
			prepare: lockChain,
		},
		{
			group: g, name: "lock-chains", columns: []column{{"lock-chains", MegaRate}}, sizes: []int{64, 1024},
			prepare: lockChains,
		},
		{
			group: g, name: "lock-move", columns: ns("lock-move"), sizes: []int{8, 64, 4096}, place: together,
			prepare: lockMove,
		},
		{group: g, name: "lock-ranks", columns: ns("lock-ranks"), place: crowding, prepare: lockRanks},
		{
			group: g, name: "lock-beside", columns: ns("lock-beside"), sizes: []int{beside}, place: together,
			prepare: lockBeside,
		},
	}
}

func newLock[T any](l *lab) realm.Reservation[T] {
	r, err := realm.NewReservation[T](l.c)
	l.note(err)
	return r
}

// lock takes and releases a reservation that nobody else wants.
func lock(l *lab, _ int) round {
	r := newLock[struct{}](l)
	return func() []float64 {
		w := start()
		for range l.batch {
			l.wait(r.Acquire(realm.Exclusive, realm.NoEvent))
			l.note(r.Release(realm.NoEvent))
		}
		return []float64{w.lap(l.batch)}
	}
}

// lockFast is lock for a reservation within the rank.
func lockFast(l *lab, _ int) round {
	f := l.rt.NewFastReservation()
	return func() []float64 {
		w := start()
		for range l.batch {
			l.wait(f.Lock(realm.Exclusive))
			l.note(f.Unlock())
		}
		return []float64{w.lap(l.batch)}
	}
}

// lockChain has n acquires wait for a reservation that is held, each of which a release follows, and then releases it.
func lockChain(l *lab, n int) round {
	r := newLock[struct{}](l)
	return func() []float64 {
		l.wait(r.Acquire(realm.Exclusive, realm.NoEvent))
		w := start()
		last := l.lockInTurn(r, n)
		build := w.lap(n)
		l.note(r.Release(realm.NoEvent))
		l.wait(last)
		return []float64{build, w.lap(n)}
	}
}

// lockInTurn makes n acquires with a release each, and returns the last grant.
func (l *lab) lockInTurn(r realm.Reservation[struct{}], n int) (last realm.Event) {
	for range n {
		last = r.Acquire(realm.Exclusive, realm.NoEvent)
		l.note(r.Release(last))
	}
	return last
}

const (
	chainLocks = 32 // of all chains
	chainDepth = 16 // acquires of one
)

// lockChains is lock_chains of Realm: n chains of acquires, each of a lock at random, after the grant before.
func lockChains(l *lab, n int) round {
	rs := make([]realm.Reservation[struct{}], chainLocks)
	for i := range rs {
		rs[i] = newLock[struct{}](l)
	}
	random := rand.New(rand.NewPCG(1, 2))
	ends := make([]realm.Event, n)
	return func() []float64 {
		begin := l.rt.NewUserEvent()
		for i := range ends {
			e := begin.Event()
			for range chainDepth {
				r := rs[random.IntN(chainLocks)]
				e = r.Acquire(realm.Exclusive, e)
				l.note(r.Release(e))
			}
			ends[i] = e
		}
		w := start()
		l.note(begin.Trigger(realm.NoEvent))
		l.wait(l.rt.Merge(ends...))
		return []float64{1e3 / w.lap(n*chainDepth)}
	}
}

// moving are arguments of a task that takes a reservation and then spawns itself on the other rank.
type moving struct {
	Lock       uint64 // its ID
	Here, Next realm.Processor
	Left       uint64
	Done       realm.Event // a user event, to trigger at the end
}

// mover is the task for payloads of type T.
func mover[T any](name string) (t realm.Task[moving]) {
	var again func(c *realm.Ctx, a moving)
	t = realm.Register(name, func(c *realm.Ctx, a moving) error {
		r := realm.ReservationID[T](a.Lock).On(c)
		if err := c.Wait(r.Acquire(realm.Exclusive, realm.NoEvent)); err != nil {
			return err
		}
		if err := r.Release(realm.NoEvent); err != nil {
			return err
		}
		if a.Left--; a.Left == 0 {
			return c.Runtime().UserEvent(a.Done).Trigger(realm.NoEvent)
		}
		a.Here, a.Next = a.Next, a.Here
		again(c, a)
		return nil
	})
	again = func(c *realm.Ctx, a moving) { realm.Spawn(c, a.Here, t, a) }
	return t
}

var (
	move8  = mover[[8]byte]("bench/move8")
	move64 = mover[[64]byte]("bench/move64")
	move4k = mover[[4096]byte]("bench/move4096")
)

// lockMove sends a task to and fro between two ranks. It takes a reservation with a payload of size bytes on each.
func lockMove(l *lab, size int) round {
	switch size {
	case 64:
		return l.moves(move64, uint64(newLock[[64]byte](l).ID()))
	case 4096:
		return l.moves(move4k, uint64(newLock[[4096]byte](l).ID()))
	}
	return l.moves(move8, uint64(newLock[[8]byte](l).ID()))
}

func (l *lab) moves(t realm.Task[moving], lock uint64) round {
	return func() []float64 {
		done := l.rt.NewUserEvent()
		w := start()
		realm.Spawn(l.c, l.on(1), t, moving{lock, l.on(1), l.on(0), uint64(l.batch), done.Event()})
		l.wait(done.Event())
		return []float64{w.lap(l.batch)}
	}
}

// holders is how many tasks of each rank want a reservation.
const holders = 4

// holding are arguments of a task that takes a reservation again and again.
type holding struct {
	Lock, Times uint64
}

// hold takes a reservation, and waits for another task while it has it.
var hold = realm.Register("bench/hold", func(c *realm.Ctx, a holding) error {
	r := realm.ReservationID[struct{}](a.Lock).On(c)
	for range a.Times {
		if err := c.Wait(r.Acquire(realm.Exclusive, realm.NoEvent)); err != nil {
			return err
		}
		if err := c.Wait(realm.Spawn(c, c.Processor(), empty, struct{}{})); err != nil {
			return err
		}
		if err := r.Release(realm.NoEvent); err != nil {
			return err
		}
	}
	return nil
})

// lockRanks has tasks of n ranks take a reservation at the same time.
func lockRanks(l *lab, n int) round {
	r := newLock[struct{}](l)
	ends := make([]realm.Event, n*holders)
	times := max(1, l.batch/8)
	return func() []float64 {
		w := start()
		for i := range ends {
			ends[i] = realm.Spawn(l.c, l.on(i%n), hold, holding{uint64(r.ID()), uint64(times)})
		}
		l.wait(l.rt.Merge(ends...))
		return []float64{w.lap(len(ends) * times)}
	}
}

// beside is how many acquires of the owner are granted while another rank waits.
const beside = 64

// askings are arguments of a task that wants a reservation.
type askings struct {
	Lock  uint64
	Asked realm.Event // a user event, to trigger when the rank has asked for it
}

var ask = realm.Register("bench/ask", func(c *realm.Ctx, a askings) error {
	r := realm.ReservationID[struct{}](a.Lock).On(c)
	grant := r.Acquire(realm.Exclusive, realm.NoEvent)
	if err := r.Release(grant); err != nil {
		return err
	}
	if err := c.Runtime().UserEvent(a.Asked).Trigger(realm.NoEvent); err != nil {
		return err
	}
	return c.Wait(grant)
})

// lockBeside is lockChain on the owner while another rank waits, too.
func lockBeside(l *lab, n int) round {
	r := newLock[struct{}](l)
	return func() []float64 {
		l.wait(r.Acquire(realm.Exclusive, realm.NoEvent))
		asked := l.rt.NewUserEvent()
		other := realm.Spawn(l.c, l.on(1), ask, askings{uint64(r.ID()), asked.Event()})
		l.wait(asked.Event())
		last := l.lockInTurn(r, n)
		w := start()
		l.note(r.Release(realm.NoEvent))
		l.wait(last)
		took := w.lap(n)
		l.wait(other)
		return []float64{took}
	}
}
