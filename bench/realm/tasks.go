package realm

import "github.com/golci/golci/realm"

// args40 are arguments of 40 bytes.
type args40 struct{ A, B, C, D, E uint64 }

var (
	empty   = realm.Register("bench/empty", func(*realm.Ctx, struct{}) error { return nil })
	empty40 = realm.Register("bench/empty40", func(*realm.Ctx, args40) error { return nil })
)

// tasks are the measures of tasks on one rank.
func tasks() []measure {
	const g = "tasks"
	return []measure{
		{group: g, name: "spawn-after", columns: ns("spawn-after", "run-after"), sizes: once, prepare: spawnAfter},
		{group: g, name: "spawn-chain", columns: ns("spawn-chain", "run-chain"), sizes: once, prepare: spawnChain},
		{group: g, name: "spawn", columns: ns("spawn", "spawn-run"), sizes: once, prepare: spawnNow[struct{}](empty)},
		{
			group: g, name: "spawn40", columns: ns("spawn40", "spawn40-run"), sizes: []int{40},
			prepare: spawnNow[args40](empty40),
		},
		{group: g, name: "spawn-wait", columns: ns("spawn-wait"), sizes: once, prepare: spawnWait},
		{group: g, name: "task-switch", columns: ns("task-switch"), sizes: []int{2}, prepare: taskSwitch},
	}
}

// spawnAfter spawns tasks that wait for one event, and then triggers that.
func spawnAfter(l *lab, _ int) round {
	return func() []float64 {
		u := l.rt.NewUserEvent()
		last := realm.NoEvent
		w := start()
		for range l.batch {
			last = realm.Spawn(l.c, l.on(0), empty, struct{}{}, realm.After(u.Event()))
		}
		spawn := w.lap(l.batch)
		l.note(u.Trigger(realm.NoEvent))
		l.wait(last)
		return []float64{spawn, w.lap(l.batch)}
	}
}

// spawnChain spawns tasks of which each waits for the one before.
func spawnChain(l *lab, _ int) round {
	return func() []float64 {
		u := l.rt.NewUserEvent()
		last := u.Event()
		w := start()
		for range l.batch {
			last = realm.Spawn(l.c, l.on(0), empty, struct{}{}, realm.After(last))
		}
		spawn := w.lap(l.batch)
		l.note(u.Trigger(realm.NoEvent))
		l.wait(last)
		return []float64{spawn, w.lap(l.batch)}
	}
}

// spawnNow spawns tasks without a precondition, which run when the task that spawns them waits. The second value is
// both together.
func spawnNow[A any](t realm.Task[A]) func(l *lab, _ int) round {
	return func(l *lab, _ int) round {
		return func() []float64 {
			var args A
			last := realm.NoEvent
			w := start()
			for range l.batch {
				last = realm.Spawn(l.c, l.on(0), t, args)
			}
			spawn := w.lap(l.batch)
			l.wait(last)
			return []float64{spawn, spawn + w.lap(l.batch)}
		}
	}
}

// spawnWait spawns a task on its own processor, and waits for it.
func spawnWait(l *lab, _ int) round {
	return func() []float64 {
		w := start()
		for range l.batch {
			l.wait(realm.Spawn(l.c, l.on(0), empty, struct{}{}))
		}
		return []float64{w.lap(l.batch)}
	}
}

// taskSwitch has two tasks of one processor trigger an event of the other, and wait for one of their own.
func taskSwitch(l *lab, n int) round {
	return func() []float64 {
		turns := make([]realm.UserEvent, n*l.batch+1)
		for i := range turns {
			turns[i] = l.rt.NewUserEvent()
		}
		ends := make([]realm.Event, n)
		for i := range ends {
			ends[i] = realm.SpawnLocal(l.c, l.on(0), func(c *realm.Ctx) error {
				for j := i; j+1 < len(turns); j += n {
					if err := c.Wait(turns[j].Event()); err != nil {
						return err
					}
					if err := turns[j+1].Trigger(realm.NoEvent); err != nil {
						return err
					}
				}
				return nil
			})
		}
		w := start()
		l.note(turns[0].Trigger(realm.NoEvent))
		l.wait(l.rt.Merge(ends...))
		return []float64{w.lap(len(turns) - 1)}
	}
}
