package realm

import (
	"context"
	"errors"
)

// A pendingRow is a call that waits for ever on rank 1, because rank 0 neither triggers events nor answers questions.
type pendingRow struct {
	name string // of the exported function or method
	in   string // who calls, where there are several rows of a name
	call func(x *pendingCase) error
	// start, in the place of call, begins an operation that waits for x.gate. Its event is waited for by Runtime.Wait.
	start func(x *pendingCase) Event
	shows string // what a dump calls it, if that is not the name
	// Why something does not end the call, by the column of the table. The comment of the function says so, too.
	except map[string]string
}

// pendingCase is what a row may use, on rank 1.
type pendingCase struct {
	rt   *Runtime
	gate Event           // of rank 0, which nobody triggers
	ctx  context.Context // with a limit in the column of that name
}

// Columns of the table.
const (
	byAbort = "abort"
	byDeath = "death"
	byLimit = "limit"
	byFinal = "final" // Finalize counts it, and ends it
	inDump  = "dump"  // a dump names it
)

func pendingRows() []pendingRow { return append(callRows(), operationRows()...) }

// errUnwound says that the end of the rank has unwound the thread of a task.
var errUnwound = errors.New("the thread has been unwound")

// callRows are calls that block.
func callRows() (rows []pendingRow) {
	row := func(name, in string, call func(x *pendingCase) error) *pendingRow {
		rows = append(rows, pendingRow{name: name, in: in, call: call})
		return &rows[len(rows)-1]
	}
	// inTask makes a call in a task of processor p.
	inTask := func(p func(rt *Runtime) Processor, wait func(x *pendingCase, c *Ctx) error) func(x *pendingCase) error {
		return func(x *pendingCase) error {
			got := make(chan error, 1)
			SpawnLocal(x.rt, p(x.rt), func(c *Ctx) error {
				err := errUnwound
				defer func() { got <- err }()
				err = wait(x, c)
				return nil
			})
			return <-got
		}
	}
	cpu := func(rt *Runtime) Processor { return rt.CPU(0) }
	other := func(rt *Runtime) Processor { return rt.CPU(1) }
	ctxWait := func(x *pendingCase, c *Ctx) error { return c.Wait(x.gate) }
	rtWait := func(x *pendingCase, c *Ctx) error { return c.Runtime().Wait(x.ctx, x.gate) }
	row("Runtime.Wait", "a goroutine", func(x *pendingCase) error { return x.rt.Wait(x.ctx, x.gate) })
	row("Runtime.Wait", "a task", inTask(cpu, rtWait))
	row("Runtime.Wait", "another task", inTask(cpu, rtWait))
	row("Runtime.Wait", "an IO task", inTask((*Runtime).IO, rtWait))
	const noContext = "it takes no context: Runtime.Wait does, also in a task"
	for in, call := range map[string]func(x *pendingCase) error{
		"a task": inTask(cpu, ctxWait), "an IO task": inTask((*Runtime).IO, ctxWait),
		"a task that holds the processor": inTask(other, func(x *pendingCase, c *Ctx) error {
			c.HoldProcessor()
			return c.Wait(x.gate)
		}),
	} {
		row("Ctx.Wait", in, call).not(byLimit, noContext)
	}
	row("Runtime.WaitForShutdown", "", func(x *pendingCase) error { return x.rt.WaitForShutdown(x.ctx) }).
		not(byDeath, "the death of a rank does not end it: those that live may still call Shutdown")
	row("Runtime.Deadlocks", "", func(x *pendingCase) error {
		_, _, err := x.rt.Deadlocks(x.ctx)
		return err
	}).not(byDeath, "those that die do not count")
	row("Runtime.Processors", "", func(x *pendingCase) error { return second(x.rt.Processors(x.ctx, 0, CPU)) })
	row("Runtime.Memories", "", func(x *pendingCase) error { return second(x.rt.Memories(x.ctx, 0, System)) })
	row("Runtime.Affinity", "", func(x *pendingCase) error {
		return second(x.rt.Affinity(x.ctx, 0, x.rt.MemoryOf(0, System)))
	})
	row("Runtime.Host", "", func(x *pendingCase) error { return second(x.rt.Host(x.ctx, 0)) })
	return rows
}

func (r *pendingRow) not(column, reason string) {
	if r.except == nil {
		r.except = make(map[string]string)
	}
	r.except[column] = reason
}

// second drops the result of a call.
func second[T any](_ T, err error) error { return err }

// operationRows are operations that wait for their precondition.
func operationRows() (rows []pendingRow) {
	row := func(name, shows string, start func(x *pendingCase) Event) *pendingRow {
		rows = append(rows, pendingRow{name: name, start: start, shows: shows})
		return &rows[len(rows)-1]
	}
	row("Spawn", "task nothing of event", func(x *pendingCase) Event {
		return Spawn(x.rt, x.rt.CPU(0), nothing, args40{}, After(x.gate))
	})
	row("SpawnEach", "task nothing of event", func(x *pendingCase) Event {
		return SpawnEach(x.rt, []Processor{x.rt.CPU(0)}, nothing, func(int) args40 { return args40{} }, After(x.gate))
	})
	row("SpawnLocal", "task function of event", func(x *pendingCase) Event {
		return SpawnLocal(x.rt, x.rt.CPU(0), func(*Ctx) error { return nil }, After(x.gate))
	})
	row("CollectiveSpawn", "task nothing of event", func(x *pendingCase) Event {
		return CollectiveSpawn(x.rt, CPU, nothing, args40{}, After(x.gate))
	})
	row("Runtime.Merge", "the merged event", func(x *pendingCase) Event {
		return x.rt.Merge(x.gate, x.rt.NewUserEvent().Event())
	})
	row("Runtime.MergeIgnoringFaults", "the merged event", func(x *pendingCase) Event {
		return x.rt.MergeIgnoringFaults(x.gate, x.rt.NewUserEvent().Event())
	}).not(byDeath, "it treats poisoned events like others")
	row("UserEvent.Trigger", "the trigger of event", func(x *pendingCase) Event {
		u := x.rt.NewUserEvent()
		return orFailed(x.rt, u.Trigger(x.gate), u.Event())
	})
	row("Reservation.Acquire", "the acquire of reservation", func(x *pendingCase) Event {
		r, err := NewReservation[int](x.rt)
		return orFailed(x.rt, err, r.Acquire(Exclusive, x.gate))
	})
	row("Barrier.Arrive", "an arrival at barrier", func(x *pendingCase) Event {
		b, err := NewBarrier(x.rt, 1, addInts)
		return orFailed(x.rt, errors.Join(err, b.Arrive(1, 1, x.gate)), b.Event())
	})
	return append(rows, dataRows()...)
}

// orFailed is e, or an event that is poisoned by err.
func orFailed(rt *Runtime, err error, e Event) Event {
	if err != nil {
		return rt.failedEvent(err)
	}
	return e
}

// dataRows are operations on instances.
func dataRows() (rows []pendingRow) {
	row := func(name, shows string, start func(x *pendingCase, in Instance) Event) {
		rows = append(rows, pendingRow{name: name, shows: shows, start: func(x *pendingCase) Event {
			in, err := NewArray[int64](x.rt, x.rt.Memory(System), Range(0, 9))
			if err != nil {
				return x.rt.failedEvent(err)
			}
			return start(x, in)
		}})
	}
	row("CreateInstance", "the creation of", func(x *pendingCase, _ Instance) Event {
		_, made := CreateInstance(x.rt, x.rt.Memory(System), Range(0, 9), SOA, []Field{FieldOf[int64]("")}, After(x.gate))
		return made
	})
	row("Copy", "the copy of", func(x *pendingCase, in Instance) Event {
		return Copy(x.rt, in, in, Part{}, After(x.gate))
	})
	row("Destroy", "the destruction of", func(x *pendingCase, in Instance) Event {
		return Destroy(x.rt, in, After(x.gate))
	})
	row("Fill", "the fill of", func(x *pendingCase, in Instance) Event {
		return Fill(x.rt, in, 0, int64(1), nil, After(x.gate))
	})
	list := make([]int64, 10)
	row("Gather", "the gather of", func(x *pendingCase, in Instance) Event {
		return Gather(x.rt, in, in, list, Part{}, After(x.gate))
	})
	row("GatherBy", "the gather of", func(x *pendingCase, in Instance) Event {
		return GatherBy(x.rt, in, in, IndexList(list), Part{}, After(x.gate))
	})
	row("Scatter", "the scatter of", func(x *pendingCase, in Instance) Event {
		return Scatter(x.rt, in, in, list, Part{}, After(x.gate))
	})
	row("ScatterBy", "the scatter of", func(x *pendingCase, in Instance) Event {
		return ScatterBy(x.rt, in, in, IndexList(list), Part{}, After(x.gate))
	})
	row("Reduce", "the reduction into", func(x *pendingCase, in Instance) Event {
		l, err := NewList(sumInt64, Range(0, 9))
		if err != nil {
			return x.rt.failedEvent(err)
		}
		return Reduce(x.rt, in, 0, l, After(x.gate))
	})
	return rows
}
