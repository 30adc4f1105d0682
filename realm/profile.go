package realm

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/event"
	"github.com/golci/golci/internal/trace"
)

// Outcome is what became of a task.
type Outcome uint8

// Outcomes.
const (
	Completed Outcome = iota // it has returned
	Failed                   // it has returned an error, panicked, or ended its thread
	Skipped                  // it has not run: its precondition was poisoned, or it was canceled
)

// String names the outcome.
func (o Outcome) String() string {
	return [...]string{"completed", "failed", "skipped"}[min(o, Skipped)]
}

// TaskProfile tells of one task. Times are since the runtime of the rank that the task was for was made. Those that
// have not come are 0.
type TaskProfile struct {
	Finish    Event  // the finish event
	Task      string // the name it is registered under; "function" for one of SpawnLocal
	Processor Processor
	Outcome   Outcome
	Create    time.Duration // it was spawned; for a task of another rank: the message has come
	Ready     time.Duration // its precondition had triggered
	Start     time.Duration // it began to run
	End       time.Duration // it returned; in between it may have waited
	Complete  time.Duration // its finish event had triggered
}

// Profiler gets the profiles of tasks that were spawned with the option Profile.
type Profiler struct {
	rt   *Runtime
	f    func([]TaskProfile) // nil for one of another rank
	rank int
	id   uint32 // from 1
}

// profilers are those of this rank, and those of others that it has been asked for.
type profilers struct {
	own atomic.Pointer[[]*Profiler] // by number; changed under mu

	mu  sync.Mutex           // guards what follows; nothing is taken under it
	far map[uint64]*Profiler // by rank and number
}

// find is the profiler of this rank with that number, or nil.
func (ps *profilers) find(id uint64) *Profiler {
	if all := ps.own.Load(); id > 0 && all != nil && id <= uint64(len(*all)) {
		return (*all)[id-1]
	}
	return nil
}

// NewProfiler has f get the profiles of tasks, many at a time: when a processor has nothing else to run, or 256 have
// gathered there. f runs in a task of this rank's utility processor, one call after the other for a processor. It must
// not keep the slice. A profiler lives as long as the runtime. It does not block.
func (rt *Runtime) NewProfiler(f func(batch []TaskProfile)) *Profiler {
	ps := &rt.profilers
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var all []*Profiler
	if old := ps.own.Load(); old != nil {
		all = slices.Clip(*old)
	}
	p := &Profiler{rt: rt, f: f, rank: rt.rank, id: uint32(len(all)) + 1}
	all = append(all, p)
	ps.own.Store(&all)
	return p
}

// remoteProfiler stands for the profiler with that number of another rank.
func (rt *Runtime) remoteProfiler(rank int, id uint32) *Profiler {
	ps := &rt.profilers
	key := uint64(rank)<<32 | uint64(id)
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.far[key]
	if p == nil {
		p = &Profiler{rt: rt, rank: rank, id: id}
		if ps.far == nil {
			ps.far = make(map[uint64]*Profiler)
		}
		ps.far[key] = p
	}
	return p
}

const batchTasks = 256

// batch is profiles for one profiler on their way. Times are those of the runtime's clock until they are delivered.
type batch struct {
	sink *Profiler
	list []TaskProfile
}

// batchFor is a batch with room for a profile for sink: b, which may be nil, or a new one in its place.
func (rt *Runtime) batchFor(b *batch, sink *Profiler) *batch {
	if b != nil && b.sink == sink && len(b.list) < batchTasks {
		return b
	}
	rt.deliver(b)
	if b = rt.batches.Get(); b == nil {
		b = &batch{list: make([]TaskProfile, 0, batchTasks)}
	}
	b.sink = sink
	return b
}

// next is the next profile of b, which is empty.
func (b *batch) next() *TaskProfile {
	b.list = append(b.list, TaskProfile{})
	return &b.list[len(b.list)-1]
}

// deliver has the profiler get b, which may be nil. It neither blocks nor runs the program's code.
func (rt *Runtime) deliver(b *batch) {
	if b == nil {
		return
	}
	rt.utility.push(rt.newInternal(func(*Ctx) error {
		b.convert(&rt.clock)
		if b.sink.f != nil {
			b.sink.f(b.list)
		} else {
			rt.sendProfiles(b)
		}
		b.list = b.list[:0]
		rt.batches.Put(b)
		return nil
	}), nil)
}

// convert makes times since the runtime was made of those of its clock. Those that have not come stay 0.
func (b *batch) convert(c *trace.Clock) {
	scale := c.Scale()
	for i := range b.list {
		x := &b.list[i]
		for _, at := range [...]*time.Duration{&x.Create, &x.Ready, &x.Start, &x.End, &x.Complete} {
			if *at != 0 {
				*at = scale(uint64(*at))
			}
		}
	}
}

// A profile travels as these words.
const (
	wordFinish = iota
	wordTask   // place in the catalog, and the outcome
	wordProcessor
	wordTimes
	profileWords = wordTimes + 5
)

// sendProfiles sends b to the rank that has asked for it.
func (rt *Runtime) sendProfiles(b *batch) {
	most := rt.ep.MaxMedium() / (8 * profileWords)
	for list := range slices.Chunk(b.list, most) {
		var payload []byte
		for i := range list {
			payload = rt.appendProfile(payload, &list[i])
		}
		rt.post(b.sink.rank, hProfile, payload, uint64(b.sink.id))
	}
}

func (rt *Runtime) appendProfile(b []byte, x *TaskProfile) []byte {
	place, _ := slices.BinarySearchFunc(rt.catalog.defs, x.Task, func(d *definition, name string) int {
		return strings.Compare(d.name, name)
	})
	for _, word := range [profileWords]uint64{
		wordFinish: uint64(x.Finish), wordTask: uint64(place)<<8 | uint64(x.Outcome),
		wordProcessor: uint64(x.Processor),
		wordTimes:     uint64(x.Create), uint64(x.Ready), uint64(x.Start), uint64(x.End), uint64(x.Complete),
	} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}

// onProfile: another rank tells of tasks that this one has spawned there.
func (rt *Runtime) onProfile(t *am.Token, args []uint64, payload []byte) {
	sink := rt.profilers.find(args[0])
	list, ok := rt.parseProfiles(payload)
	if sink == nil || !ok {
		rt.malformed(t, "profiles for", event.ID(args[0]))
		return
	}
	rt.utility.push(rt.newInternal(func(*Ctx) error {
		sink.f(list)
		return nil
	}), nil)
}

func (rt *Runtime) parseProfiles(b []byte) (list []TaskProfile, ok bool) {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	for ; len(b) >= 8*profileWords; b = b[8*profileWords:] {
		place := word(wordTask) >> 8
		if place >= uint64(len(rt.catalog.defs)) {
			return nil, false
		}
		at := func(i int) time.Duration { return time.Duration(word(wordTimes + i)) }
		list = append(list, TaskProfile{
			Finish: Event(word(wordFinish)), Task: rt.catalog.defs[place].name,
			Processor: Processor(word(wordProcessor)),
			Outcome:   Outcome(word(wordTask)), Create: at(0), Ready: at(1), Start: at(2), End: at(3), Complete: at(4),
		})
	}
	return list, len(b) == 0 && len(list) > 0
}
