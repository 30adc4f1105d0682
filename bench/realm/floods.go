package realm

import (
	"sync/atomic"

	"github.com/golci/golci/realm"
)

// floods are the measures of many events and tasks between ranks at once.
func floods() []measure {
	const g = "floods"
	return []measure{
		{group: g, name: "am-flood", columns: ns("am-flood"), sizes: once, place: together, prepare: amFlood},
		{
			group: g, name: "event-flood", columns: []column{{"event-flood", MegaRate}}, sizes: once, place: together,
			prepare: eventFlood,
		},
		{
			group: g, name: "spawn-flood", columns: ns("spawn-flood", "spawn-flood-run"), sizes: []int{40},
			place:   crowding,
			prepare: spawnFlood,
		},
		{group: g, name: "spawn-all", columns: []column{{"spawn-all", MegaRate}}, place: crowding, prepare: spawnAll},
	}
}

// several is how many events the arguments of a task have.
const several = 256

// flood is how many events or tasks a flood has.
func (l *lab) flood() int { return 4 * l.batch }

// listening are arguments of a task that waits for many events.
type listening struct {
	Events [several]realm.Event
	Done   realm.Event // a user event, to trigger when all have triggered
	Ready  realm.Event // a user event, to trigger when the waits have begun
}

var listen = realm.Register("bench/listen", func(c *realm.Ctx, a listening) error {
	rt := c.Runtime()
	if err := rt.UserEvent(a.Done).Trigger(rt.Merge(a.Events[:]...)); err != nil {
		return err
	}
	return rt.UserEvent(a.Ready).Trigger(realm.NoEvent)
})

// eventFlood triggers events that another rank waits for. It ends when that rank has seen all.
func eventFlood(l *lab, _ int) round {
	n := max(several, l.flood())
	us, ends := make([]realm.UserEvent, n), make([]realm.Event, n/several)
	ready := make([]realm.Event, n/several)
	return func() []float64 {
		for i := range ends {
			d, r := l.rt.NewUserEvent(), l.rt.NewUserEvent()
			a := listening{Done: d.Event(), Ready: r.Event()}
			for j := range a.Events {
				us[i*several+j] = l.rt.NewUserEvent()
				a.Events[j] = us[i*several+j].Event()
			}
			realm.Spawn(l.c, l.on(1), listen, a)
			ends[i], ready[i] = d.Event(), r.Event()
		}
		l.wait(l.rt.Merge(ready...))
		w := start()
		l.trigger(us)
		l.wait(l.rt.Merge(ends...))
		return []float64{1e3 / w.lap(n)}
	}
}

// counted are arguments of 40 bytes of a task that counts how many have run.
type counted struct {
	Of   uint64      // how many there are
	Done realm.Event // a user event, to trigger after the last
	_    [3]uint64
}

// ran counts tasks, by rank.
var ran [64]struct {
	n atomic.Uint64
	_ [56]byte
}

var count = realm.Register("bench/count", func(c *realm.Ctx, a counted) error {
	rt := c.Runtime()
	n := &ran[rt.Rank()%len(ran)].n
	if n.Add(1) < a.Of {
		return nil
	}
	n.Store(0)
	return rt.UserEvent(a.Done).Trigger(realm.NoEvent)
})

// spawnFlood spawns tasks of 40 bytes of arguments on another rank: the cost to the spawner, and the time until all
// have run.
func spawnFlood(l *lab, _ int) round {
	return func() []float64 {
		over := l.rt.NewUserEvent()
		a := counted{Of: uint64(l.flood()), Done: over.Event()}
		w := start()
		for range l.flood() {
			realm.Spawn(l.c, l.on(1), count, a)
		}
		spawn := w.lap(l.flood())
		l.wait(over.Event())
		return []float64{spawn, spawn + w.lap(l.flood())}
	}
}

// burst are arguments of a task that spawns many.
type burst struct {
	On   realm.Processor
	Task counted
}

var spawnMany = realm.Register("bench/burst", func(c *realm.Ctx, b burst) error {
	for range b.Task.Of {
		realm.Spawn(c, b.On, count, b.Task)
	}
	return nil
})

// spawnAll makes each of n ranks spawn tasks on the next one, all at the same time. It ends when all have run.
func spawnAll(l *lab, n int) round {
	ends := make([]realm.Event, n)
	return func() []float64 {
		w := start()
		for r := range n {
			u := l.rt.NewUserEvent()
			ends[r] = u.Event()
			realm.Spawn(l.c, l.on(r), spawnMany, burst{l.on((r + 1) % n), counted{
				Of:   uint64(l.flood()),
				Done: u.Event(),
			}})
		}
		l.wait(l.rt.Merge(ends...))
		return []float64{1e3 / w.lap(n*l.flood())}
	}
}
