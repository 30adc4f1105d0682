package realm

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// AllRanks stands for every rank in a query.
const AllRanks = -1

// machine is what is known of the ranks: each is asked at the first query that concerns it.
type machine struct {
	mu    sync.Mutex // guards ranks and their fields; nothing is taken under it
	ranks map[int]*rankInfo
}

// rankInfo is what one rank has. told triggers when what is known.
type rankInfo struct {
	told event.ID
	what description
}

// description is what a rank tells of itself.
type description struct {
	Host       string
	Node       int                // the first rank of those that reach each other's memory, this one among them
	Processors [Group]int         // by kind
	Memories   [memoryKinds]int64 // the capacity, by kind; 0: there is none
}

// possible tells whether a rank may have such processors and memories.
func (d *description) possible() bool {
	return !slices.ContainsFunc(d.Processors[:], func(n int) bool { return n < 0 || n > maxCPUs }) &&
		slices.Min(d.Memories[:]) >= 0
}

// describe is the description of this rank.
func (rt *Runtime) describe() description {
	host, _ := os.Hostname() // without a name, empty
	d := description{Host: host, Node: rt.ev.Self}
	d.Processors = [Group]int{CPU: len(rt.procs.cpus), Utility: len(rt.procs.util), IO: 1}
	for r := range rt.ev.Self {
		if rt.ev.Endpoint.Reach(r).Map {
			d.Node = r
			break
		}
	}
	for kind := range memoryKinds {
		d.Memories[kind], _ = rt.MemoryUse(rt.Memory(kind))
	}
	return d
}

// siteOf returns what is known of a rank, which it asks if nobody has.
func (rt *Runtime) siteOf(rank int) *rankInfo {
	m := &rt.machine
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.ranks[rank]
	if s != nil {
		return s
	}
	if m.ranks == nil {
		m.ranks = make(map[int]*rankInfo)
	}
	s = new(rankInfo)
	m.ranks[rank] = s
	if rank == rt.ev.Self {
		s.what = rt.describe()
		return s
	}
	s.told = rt.ev.NewEventBy(rank)
	rt.inquire(rank, events.HAsk, s.told)
	return s
}

// inquire sends a question to another rank, which told, an event by that rank, is to tell the answer of. If the rank
// has died, the event is poisoned.
func (rt *Runtime) inquire(rank int, h uint8, told event.ID) {
	rt.ev.PostMessage(rank, h, nil, uint64(told))
	if rt.ev.Endpoint.Gone(rank) { // set before the events of that rank are looked through
		rt.ev.FailWith(told, rt.ev.DeathOf(rank))
	}
}

// onAsk: another rank asks what this one has.
func (rt *Runtime) onAsk(t *am.Token, args []uint64, _ []byte) {
	if rt.ignoreQuestions.Load() {
		return
	}
	b, err := json.Marshal(rt.describe())
	if err != nil {
		rt.ev.Fatal(rt.ev.CallErrorf("Machine", "%w", err))
		return
	}
	rt.ev.PostMessage(t.Source(), events.HDescribe, b, args[0])
}

// onDescribe: a rank tells what it has.
func (rt *Runtime) onDescribe(t *am.Token, args []uint64, payload []byte) {
	var d description
	m := &rt.machine
	err := json.Unmarshal(payload, &d)
	m.mu.Lock()
	s := m.ranks[t.Source()]
	ok := err == nil && s != nil && uint64(s.told) == args[0] && d.possible()
	if ok {
		s.what = d
	}
	m.mu.Unlock()
	if !ok {
		rt.ev.Malformed(t, "a description for", event.ID(args[0]))
		return
	}
	k := rt.ev.BeginCascade(t.Worker())
	k.Trigger(event.ID(args[0]), nil)
	k.EndCascade(events.PollBudget)
}

// sites returns what the ranks of a query have. It blocks until those have answered that were never asked.
func (rt *Runtime) sites(ctx context.Context, call callName, rank int) (first int, ds []description, err error) {
	last := rank
	switch {
	case rank == AllRanks:
		rank, last = 0, rt.ev.Size-1
	case rank < 0 || rank >= rt.ev.Size:
		return 0, nil, rt.ev.CallErrorf(call.short(), "%w: rank %d of %d", ErrArgument, rank, rt.ev.Size)
	}
	for r := rank; r <= last; r++ {
		rt.siteOf(r) // all are asked before the first answer is waited for
	}
	for r := rank; r <= last; r++ {
		s := rt.siteOf(r)
		if err := rt.waitIn(ctx, call, Event(s.told)); err != nil {
			return 0, nil, err
		}
		rt.machine.mu.Lock()
		ds = append(ds, s.what)
		rt.machine.mu.Unlock()
	}
	return rank, ds, nil
}

// Processors lists the processors of a kind, of one rank or of AllRanks, by rank and index. Groups are not listed. The
// first query for another rank asks it, and blocks until it has answered. Errors: ErrArgument; the cause of ctx; a
// *PoisonError if the rank has died.
func (rt *Runtime) Processors(ctx context.Context, rank int, kind ProcessorKind) ([]Processor, error) {
	if kind >= Group {
		return nil, rt.ev.CallErrorf("Processors", "%w: %v", ErrArgument, kind)
	}
	first, ds, err := rt.sites(ctx, inProcessors, rank)
	if err != nil {
		return nil, err
	}
	var ps []Processor
	for i, d := range ds {
		for j := range d.Processors[kind] {
			ps = append(ps, makeProcessor(first+i, kind, j))
		}
	}
	return ps, nil
}

// MemoryInfo is what a query tells of a memory.
type MemoryInfo struct {
	Memory   Memory
	Capacity int64 // in bytes
}

// Memories lists the memories of a kind, of one rank or of AllRanks, by rank. A rank that has none is left out. It
// blocks, and fails, as Processors does. It is Realm's MemoryQuery.
func (rt *Runtime) Memories(ctx context.Context, rank int, kind MemoryKind) ([]MemoryInfo, error) {
	if kind >= memoryKinds {
		return nil, rt.ev.CallErrorf("Memories", "%w: %v", ErrArgument, kind)
	}
	first, ds, err := rt.sites(ctx, inMemories, rank)
	if err != nil {
		return nil, err
	}
	var all []MemoryInfo
	for i, d := range ds {
		if d.Memories[kind] > 0 {
			all = append(all, MemoryInfo{makeMemory(first+i, kind), d.Memories[kind]})
		}
	}
	return all, nil
}

// Affinity is how near a memory is to the processors, and to the other memories, of a rank.
type Affinity uint8

// Affinities, the nearest last.
const (
	AffinityFar  Affinity = iota // data travel in messages
	AffinityNear                 // registered memory that the rank reaches: copies and atomic reductions go there straight
	AffinityOwn                  // memory of the rank: its tasks have the data by ViewOf
)

// String names the affinity.
func (a Affinity) String() string { return [...]string{"far", "near", "own"}[min(a, AffinityOwn)] }

// Affinity tells how near a memory is to a rank: to its processors, as Realm's ProcessorMemoryAffinity, and for copies
// from its memories, as MemoryMemoryAffinity. It blocks, and fails, as Processors does; ErrArgument is also for
// AllRanks and for a memory that does not exist.
func (rt *Runtime) Affinity(ctx context.Context, rank int, m Memory) (Affinity, error) {
	if rank == AllRanks || !m.possible() {
		return AffinityFar, rt.ev.CallErrorf("Affinity", "%w: rank %d, %v", ErrArgument, rank, m)
	}
	_, here, err := rt.sites(ctx, inAffinity, rank)
	if err != nil {
		return AffinityFar, err
	}
	_, there, err := rt.sites(ctx, inAffinity, m.Rank())
	switch {
	case err != nil:
		return AffinityFar, err
	case there[0].Memories[m.Kind()] == 0:
		return AffinityFar, rt.ev.CallErrorf("Affinity", "%w: there is no %v", ErrArgument, m)
	case m.Rank() == rank:
		return AffinityOwn, nil
	case m.Kind() == Registered && here[0].Node == there[0].Node:
		return AffinityNear, nil
	}
	return AffinityFar, nil
}

// Host is the name of the machine that a rank runs on. It blocks, and fails, as Processors does. AllRanks is no rank.
func (rt *Runtime) Host(ctx context.Context, rank int) (string, error) {
	if rank == AllRanks {
		return "", rt.ev.CallErrorf("Host", "%w: all ranks", ErrArgument)
	}
	_, ds, err := rt.sites(ctx, inHost, rank)
	if err != nil {
		return "", err
	}
	return ds[0].Host, nil
}

// SpawnEach spawns a task on each of several processors. Each gets what args returns for its place in the list. The
// result triggers when all have ended. Otherwise it is like Spawn.
func SpawnEach[A any](at Site, ps []Processor, t Task[A], args func(i int) A, opts ...Option) Event {
	rt, _ := at.site()
	if args == nil {
		return rt.failedEvent(rt.ev.CallErrorf("SpawnEach", "%w: no function for the arguments", ErrArgument))
	}
	all := make([]Event, len(ps))
	for i, p := range ps {
		all[i] = Spawn(at, p, t, args(i), opts...)
	}
	return rt.Merge(all...)
}
