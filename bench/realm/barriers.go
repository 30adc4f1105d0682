package realm

import "github.com/golci/golci/realm"

// barriers are the measures of barriers.
func barriers() []measure {
	const g = "barriers"
	return []measure{
		{group: g, name: "barrier-alone", columns: ns("barrier-alone"), sizes: once, prepare: barrierAlone},
		{group: g, name: "barrier-alone-sum", columns: ns("barrier-alone-sum"), sizes: once, prepare: barrierAloneSum},
		{group: g, name: "barrier-phase", columns: ns("barrier-phase"), place: crowding, prepare: barrierPhase},
		{group: g, name: "barrier-sum", columns: ns("barrier-sum"), place: crowding, prepare: barrierSum},
	}
}

var sums = realm.RegisterReduction("bench/sum", func(a, b int64) int64 { return a + b })

// barrierAlone has one participant.
func barrierAlone(l *lab, _ int) round {
	return arrivals(l, realm.Reduction[struct{}]{}, struct{}{})
}

func barrierAloneSum(l *lab, _ int) round { return arrivals(l, sums, 1) }

func arrivals[T any](l *lab, op realm.Reduction[T], value T) round {
	b, err := realm.NewBarrier(l.c, 1, op)
	l.note(err)
	return func() []float64 {
		w := start()
		for range l.batch {
			l.note(b.Arrive(1, value, realm.NoEvent))
			b = b.Next()
		}
		return []float64{w.lap(l.batch)}
	}
}

// phases are arguments of a task that takes part in a barrier.
type phases[T any] struct {
	Barrier realm.BarrierID[T]
	Times   uint64
	Value   T
}

func arriver[T any](name string, check func(b realm.Barrier[T]) error) realm.Task[phases[T]] {
	return realm.Register(name, func(c *realm.Ctx, a phases[T]) error {
		b := a.Barrier.On(c)
		for range a.Times {
			if err := b.Arrive(1, a.Value, realm.NoEvent); err != nil {
				return err
			}
			if err := c.Wait(b.Event()); err != nil {
				return err
			}
			if err := check(b); err != nil {
				return err
			}
			b = b.Next()
		}
		return nil
	})
}

var (
	arrive    = arriver("bench/arrive", func(realm.Barrier[struct{}]) error { return nil })
	arriveSum = arriver("bench/arrive-sum", func(b realm.Barrier[int64]) error {
		_, err := b.Result()
		return err
	})
)

// barrierPhase runs a task on each of n ranks that arrives and waits, phase after phase.
func barrierPhase(l *lab, n int) round {
	return meetings(l, n, realm.Reduction[struct{}]{}, arrive, struct{}{})
}

// barrierSum is barrierPhase with a value of each rank, whose sum all get.
func barrierSum(l *lab, n int) round { return meetings(l, n, sums, arriveSum, 1) }

func meetings[T any](l *lab, n int, op realm.Reduction[T], t realm.Task[phases[T]], value T) round {
	b, err := realm.NewBarrier(l.c, int64(n), op)
	l.note(err)
	ends := make([]realm.Event, n)
	return func() []float64 {
		w := start()
		for r := range n {
			ends[r] = realm.Spawn(l.c, l.on(r), t, phases[T]{b.ID(), uint64(l.batch), value})
		}
		l.wait(l.rt.Merge(ends...))
		for range l.batch {
			b = b.Next()
		}
		return []float64{w.lap(l.batch)}
	}
}
