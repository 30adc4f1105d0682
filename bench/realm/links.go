package realm

import (
	"sync/atomic"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/realm"
)

// links are the measures of what goes from rank to rank one by one.
func links() []measure {
	const g = "links"
	return []measure{
		{group: g, name: "am-half", columns: ns("am-half"), sizes: once, place: crowding, prepare: amHalf},
		{group: g, name: "am-hop", columns: ns("am-hop"), sizes: once, place: crowding, prepare: amHop},
		{group: g, name: "hop", columns: ns("hop"), place: crowding, prepare: hop},
		{group: g, name: "task-hop", columns: ns("task-hop"), place: crowding, prepare: taskHop},
		{
			group: g, name: "remote-wait", columns: []column{{"remote-wait", bench.Micro}}, sizes: once,
			place:   crowding,
			prepare: remoteWait,
		},
	}
}

// maxRing is how many processors of a ring the arguments of a task have room for.
const maxRing = 12

// ring are arguments of the tasks that build or run round a ring of processors.
type ring struct {
	Procs [maxRing]realm.Processor
	Size  uint64
	Left  uint64      // events still to be made, or hops
	Last  realm.Event // the event before, or the one to trigger at the end
	Ready realm.Event // a user event of the first rank, to trigger when the last event is known there
}

func (r *ring) next() realm.Processor { return r.Procs[r.Left%r.Size] }

// built has the last event of a ring, on the rank that has asked for it.
var built atomic.Uint64

type answer struct{ Last, Ready realm.Event }

var (
	link     realm.Task[ring]
	linked   realm.Task[answer]
	runRound realm.Task[ring]
)

func init() {
	linked = realm.Register("bench/linked", func(c *realm.Ctx, a answer) error {
		built.Store(uint64(a.Last))
		return c.Runtime().UserEvent(a.Ready).Trigger(realm.NoEvent)
	})
	// link makes an event that follows the last one, and has the next processor go on.
	link = realm.Register("bench/link", func(c *realm.Ctx, r ring) error {
		u := c.Runtime().NewUserEvent()
		if err := u.Trigger(r.Last); err != nil {
			return err
		}
		r.Last = u.Event()
		r.Left--
		if r.Left == 0 {
			realm.Spawn(c, r.Procs[0], linked, answer{r.Last, r.Ready})
			return nil
		}
		realm.Spawn(c, r.next(), link, r)
		return nil
	})
	// runRound spawns itself on the next processor.
	runRound = realm.Register("bench/round", func(c *realm.Ctx, r ring) error {
		if r.Left--; r.Left == 0 {
			return c.Runtime().UserEvent(r.Last).Trigger(realm.NoEvent)
		}
		realm.Spawn(c, r.next(), runRound, r)
		return nil
	})
}

// hop is the time of an event from rank to rank, over a ring of n ranks. Each rank has an event that follows the one of
// the rank before.
func hop(l *lab, n int) round {
	r := l.ring(n)
	depth := l.batch / n * n
	return func() []float64 {
		first, ready := l.rt.NewUserEvent(), l.rt.NewUserEvent()
		r.Left, r.Last, r.Ready = uint64(depth), first.Event(), ready.Event()
		realm.Spawn(l.c, r.next(), link, r)
		l.wait(ready.Event())
		w := start()
		l.note(first.Trigger(realm.NoEvent))
		l.wait(realm.Event(built.Load()))
		return []float64{w.lap(depth + 1)}
	}
}

func (l *lab) ring(n int) (r ring) {
	r.Size = uint64(n)
	copy(r.Procs[:], l.procs[:n])
	return r
}

// taskHop is the time of a task from one processor to the next, over a ring of all processors of n ranks.
func taskHop(l *lab, n int) round {
	var r ring
	for _, p := range l.procs {
		if p.Rank() < n && r.Size < maxRing {
			r.Procs[r.Size] = p
			r.Size++
		}
	}
	return func() []float64 {
		over := l.rt.NewUserEvent()
		r.Left, r.Last = uint64(l.batch), over.Event()
		w := start()
		realm.Spawn(l.c, r.next(), runRound, r)
		l.wait(over.Event())
		return []float64{w.lap(l.batch)}
	}
}

// remoteWait spawns a task on another rank, and waits for it.
func remoteWait(l *lab, _ int) round {
	return func() []float64 {
		w := start()
		for range l.batch {
			l.wait(realm.Spawn(l.c, l.on(1), empty, struct{}{}))
		}
		return []float64{w.lap(l.batch) / 1e3}
	}
}
