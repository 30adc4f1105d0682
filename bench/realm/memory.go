package realm

import (
	"runtime"

	"github.com/golci/golci/realm"
)

// memories are the measures of what much that is alive takes, on one rank.
func memories() []measure {
	const g = "memory"
	bytes := func(name string) []column { return []column{{name, Bytes}, {name + "-more", Bytes}} }
	return []measure{
		{
			group: g, name: "memory-events", columns: bytes("memory-event"), sizes: []int{1_000_000}, once: true,
			prepare: liveEvents,
		},
		{
			group: g, name: "memory-tasks", columns: bytes("memory-task"), sizes: []int{100_000}, once: true,
			prepare: liveTasks,
		},
		{
			group: g, name: "memory-locks", columns: bytes("memory-lock"), sizes: []int{10_000}, once: true,
			prepare: liveLocks,
		},
	}
}

// again is how often as much is made and let go.
const again = 100

// inUse is the memory in use, of heap and stacks.
func inUse() float64 {
	runtime.GC()
	runtime.GC() // a second one frees what pools have kept
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse + m.StackInuse)
}

// memory makes n of something, again and again, and lets it go each time. The values are the bytes of each while all
// are alive for the first time, and by how many that has grown from the second time to the last. What is kept for
// later use is there the second time.
func (l *lab) memory(n int, makeAll func(), letGo func()) round {
	return func() []float64 {
		before := inUse()
		var first, second, last float64
		for i := range again {
			if l.err != nil || l.ctx.Err() != nil {
				break
			}
			makeAll()
			switch i {
			case 0:
				first = inUse() - before
			case 1:
				second = inUse() - before
			case again - 1:
				last = inUse() - before
			}
			letGo()
		}
		return []float64{first / float64(n), (last - second) / float64(n)}
	}
}

// liveEvents: user events that have not triggered, and that nobody waits for.
func liveEvents(l *lab, n int) round {
	us := make([]realm.UserEvent, n)
	return l.memory(n, func() {
		for i := range us {
			us[i] = l.rt.NewUserEvent()
		}
	}, func() { l.trigger(us) })
}

// liveTasks: tasks of 40 bytes of arguments that wait for an event, each with its finish event.
func liveTasks(l *lab, n int) round {
	var gate realm.UserEvent
	last := realm.NoEvent
	return l.memory(n, func() {
		gate = l.rt.NewUserEvent()
		for range n {
			last = realm.Spawn(l.c, l.on(0), empty40, args40{}, realm.After(gate.Event()))
		}
	}, func() {
		l.note(gate.Trigger(realm.NoEvent))
		l.wait(last)
	})
}

// liveLocks: reservations without a payload that nobody holds.
func liveLocks(l *lab, n int) round {
	rs := make([]realm.Reservation[struct{}], n)
	return l.memory(n, func() {
		for i := range rs {
			rs[i] = newLock[struct{}](l)
		}
	}, func() {
		for i := range rs {
			l.note(rs[i].Destroy(realm.NoEvent))
		}
	})
}
