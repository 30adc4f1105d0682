package realm

import (
	"encoding/binary"
	"errors"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
	"github.com/golci/golci/realm/internal/fault"
	"github.com/golci/golci/realm/internal/observe"
)

// Spawn has task t run on processor p with args, and returns the finish event, which this rank owns. It triggers when
// the task has returned. An error or a panic of the task poisons it; so does whatever keeps the task from running.
// Options are After, Priority, IgnoreFaults and Profile.
//
// It does not wait for the task. For a processor of another rank it may block for credits, and switch threads.
func Spawn[A any](at Site, p Processor, t Task[A], args A, opts ...Option) Event {
	rt, c := at.site()
	terms, several := rt.termsOf(opts)
	x, err := rt.prepareTask(p, &terms)
	if err != nil {
		return rt.failedEvent(err)
	}
	if x.def = t.def; x.def == nil {
		return rt.unspawned(x, rt.ev.CallErrorf("Spawn", "%w: a task that was not registered", ErrArgument))
	}
	if err = put(x, t.def, &args); err != nil {
		return rt.unspawned(x, rt.ev.CallErrorf("Spawn", "%w", err))
	}
	if x.watch != nil {
		x.spawned(c, terms.after, several)
	}
	finish := x.finish
	switch {
	case x.executor == nil:
		rt.spawnRemote(p, x, rt.both(terms.after, several, terms.ignore))
	case several != nil:
		rt.launchAfter(x, several, c)
	default:
		x.launchAfter(event.ID(terms.after))
	}
	return Event(finish)
}

// SpawnLocal is Spawn of a function, on a processor of this rank. f may use whatever the caller can.
func SpawnLocal(at Site, p Processor, f func(c *Ctx) error, opts ...Option) Event {
	rt, c := at.site()
	terms, several := rt.termsOf(opts)
	x, err := rt.prepareTask(p, &terms)
	if err != nil {
		return rt.failedEvent(err)
	}
	if x.executor == nil || f == nil {
		return rt.unspawned(x, rt.ev.CallErrorf("SpawnLocal", "%w: a function for %v, nil %v", ErrArgument, p, f == nil))
	}
	x.def, x.local = nil, f
	if x.watch != nil {
		x.spawned(c, terms.after, several)
	}
	finish := x.finish
	if several != nil {
		rt.launchAfter(x, several, c)
	} else {
		x.launchAfter(event.ID(terms.after))
	}
	return Event(finish)
}

// prepareTask makes a task for processor p. Its executor is nil if p belongs to another rank.
func (rt *Runtime) prepareTask(p Processor, x *opOptions) (*task, error) {
	if err := rt.ev.EndedError(); err != nil {
		return nil, err
	}
	ex := rt.executorOf(p)
	if ex == nil && (p.Rank() == rt.ev.Self || p.Rank() >= rt.ev.Size || !p.possible()) {
		return nil, rt.noProcessor(p)
	}
	by := events.Nobody
	if ex == nil {
		by = p.Rank()
	}
	t := rt.newTask()
	t.executor, t.priority, t.ignore = ex, x.priority, x.ignore
	if ex != nil && x.after != NoEvent {
		t.finish = rt.ev.NewEventFor(event.ID(x.after), &t.Waiter, events.Indexed)
	} else {
		t.finish = rt.ev.NewEventBy(by)
	}
	if x.profiler != 0 || rt.ev.Log.Drawn() {
		t.watch = rt.ev.Log.BeginFor(observe.Task, uint64(t.finish), rt.ev.Self, uint32(x.profiler))
	}
	return t, nil
}

// unspawned is the finish event of x, which is not spawned because of err.
func (rt *Runtime) unspawned(x *task, err error) Event {
	finish := x.finish
	rt.ev.FailEvent(finish, err) // it leaves the index before it is free
	x.freeTask()
	return Event(finish)
}

// failedEvent is an event that is poisoned by err.
func (rt *Runtime) failedEvent(err error) Event {
	e := rt.ev.NewEvent()
	rt.ev.FailEvent(e, err)
	return Event(e)
}

// profilerShift is where the number of the profiler is in the flags of a spawn, above the priority.
const profilerShift = 33

// spawnRemote sends t to the rank of p, and frees it here.
func (rt *Runtime) spawnRemote(p Processor, t *task, after Event) {
	defer t.freeTask()
	if t.def.serial >= len(rt.catalog.place) {
		rt.ev.FailEvent(t.finish, rt.ev.CallErrorf("Spawn", "%w: %q came after the start", ErrRegistered, t.def.name))
		return
	}
	flags, before := uint64(uint32(t.priority))<<1, event.ID(after)
	if t.ignore {
		flags |= 1
		before = 0
	}
	rt.ev.Events.Precede(t.finish, before)
	if t.watch != nil {
		flags |= uint64(t.watch.Sink.ID()) << profilerShift
	}
	place := uint64(rt.catalog.place[t.def.serial])
	var err error
	if b := t.argBytes(); flags == 0 && after == NoEvent && isBrief(p, place) && len(b) <= rt.ev.Endpoint.MaxMedium() {
		err = rt.ev.Request(p.Rank(), events.HBrief, b, brief(p, place, t.finish))
	} else {
		err = rt.sendSpawn(p.Rank(), b, uint64(p), place, flags, uint64(t.finish), uint64(after))
	}
	// Gone is set before the events of that rank are looked through.
	if errors.Is(err, ErrPeer) || rt.ev.Endpoint.Gone(p.Rank()) {
		rt.ev.FailWith(t.finish, rt.poisonBefore(rt.ev.DeathOf(p.Rank()), before))
	} else if err != nil {
		rt.ev.FailEvent(t.finish, err)
	}
}

// spawnWords is the number of arguments of the message that spawns a task.
const spawnWords = 5

// sendSpawn sends the message of a spawn, as a parcel if one message has no room for b. It blocks for credits.
func (rt *Runtime) sendSpawn(peer int, b []byte, words ...uint64) error {
	if len(b) <= rt.ev.Endpoint.MaxMedium() {
		return rt.ev.Request(peer, events.HSpawn, b, words...)
	}
	if err := rt.ev.FitsParcel("Spawn", peer, 8*spawnWords+len(b)); err != nil {
		return err
	}
	parcel := make([]byte, 0, 8*spawnWords+len(b))
	for _, w := range words {
		parcel = binary.LittleEndian.AppendUint64(parcel, w)
	}
	k := rt.ev.BeginCascade(nil)
	rt.ev.SendParcel(k, peer, events.ParcelSpawn, 0, append(parcel, b...))
	k.EndCascade(events.CallBudget)
	return nil
}

// onLongSpawn is onSpawn for a parcel.
func (rt *Runtime) onLongSpawn(k *events.Cascade, src int, _ uint64, b []byte) error {
	var args [spawnWords]uint64
	if len(b) < 8*spawnWords {
		return fault.ErrMalformed
	}
	for i := range args {
		args[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if !rt.spawned(k, src, args, b[8*spawnWords:]) {
		return fault.ErrMalformed
	}
	return nil
}

// A brief spawn has one word, so that it and 40 bytes of arguments take one cache line. From the top: the place of the
// task, the index of the CPU processor, index and generation of the finish event, which the sender owns.
const (
	briefPlaceBits = 12
	briefIndexBits = 5
	briefEventBits = 64 - briefPlaceBits - briefIndexBits
)

// isBrief tells whether a spawn on p without flags and precondition can be brief.
func isBrief(p Processor, place uint64) bool {
	return p.Kind() == CPU && p.Index() < 1<<briefIndexBits && place < 1<<briefPlaceBits
}

// brief is the word of a brief spawn.
func brief(p Processor, place uint64, finish event.ID) uint64 {
	return place<<(64-briefPlaceBits) | uint64(p.Index())<<briefEventBits | uint64(finish)&(1<<briefEventBits-1)
}

// unbrief is the words of the spawn that rank src has sent as w.
func (rt *Runtime) unbrief(src int, w uint64) [spawnWords]uint64 {
	p := makeProcessor(rt.ev.Self, CPU, int(w>>briefEventBits&(1<<briefIndexBits-1)))
	finish := uint64(event.MakeEvent(src, 0, 0)) | w&(1<<briefEventBits-1)
	return [spawnWords]uint64{uint64(p), w >> (64 - briefPlaceBits), 0, finish, 0}
}

// onBrief: another rank spawns a task here, by a brief message.
func (rt *Runtime) onBrief(t *am.Token, args []uint64, payload []byte) {
	rt.takeSpawn(t, rt.unbrief(t.Source(), args[0]), payload)
}

// onSpawn: another rank spawns a task here.
func (rt *Runtime) onSpawn(t *am.Token, args []uint64, payload []byte) {
	rt.takeSpawn(t, [spawnWords]uint64(args), payload)
}

func (rt *Runtime) takeSpawn(t *am.Token, args [spawnWords]uint64, payload []byte) {
	k := rt.ev.BeginCascade(t.Worker())
	ok := rt.spawned(k, t.Source(), args, payload)
	k.EndCascade(events.PollBudget)
	if !ok {
		rt.ev.Malformed(t, "a task for", event.ID(args[3]))
	}
}

// spawned takes a task that rank src has spawned here. It returns false for one that cannot be.
func (rt *Runtime) spawned(k *events.Cascade, src int, args [spawnWords]uint64, payload []byte) bool {
	p, place, finish := Processor(args[0]), args[1], event.ID(args[3])
	if place >= uint64(len(rt.catalog.defs)) || !finish.IsEvent() || finish.EventRank() >= rt.ev.Size {
		return false
	}
	ex := rt.executorOf(p)
	if ex == nil { // the program has made up the number
		k.Trigger(finish, rt.ev.FaultPoison(rt.noProcessor(p)))
		return true
	}
	d := rt.catalog.defs[place]
	if d.plain && uintptr(len(payload)) != d.size {
		return false
	}
	x := rt.newTask()
	x.executor, x.def, x.finish = ex, d, finish
	x.priority, x.ignore = int32(uint32(args[2]>>1)), args[2]&1 != 0
	if d.plain {
		x.argsRoom(d.size)
		copy(x.argBytes(), payload)
	} else {
		x.large = &large{encoded: append([]byte(nil), payload...)}
	}
	after := event.ID(args[4])
	if id := uint32(args[2] >> profilerShift); id != 0 || rt.ev.Log.Drawn() {
		x.watch = rt.ev.Log.BeginFor(observe.Task, uint64(finish), src, id)
		x.watch.SetPlace(int(place))
		x.watch.After = after != 0
	}
	if after != 0 {
		rt.ev.Arrives(finish, events.WaitsFor{Of: after, By: &x.Waiter})
	}
	if st, why := rt.ev.AwaitEvent(after, &x.Waiter); st != event.Pending {
		rt.ev.Departs(finish)
		x.beginAt(k, after, st, why)
	}
	return true
}
