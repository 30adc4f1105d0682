package timeline

import (
	"slices"
	"sync"
	"time"

	"github.com/golci/golci/internal/observe/trace"
)

// Counters are looked at so often. One that takes long to read is looked at less often, so that it takes 1/lookShare of
// the time; but it is looked at every lookMost.
const (
	lookEvery = time.Millisecond
	lookShare = 100
	lookMost  = 250 * time.Millisecond
)

// counter is a number that changes over time.
type counter struct {
	name  trace.Name
	read  func() int64
	shown bool  // last has been recorded
	last  int64 // these four are the looking goroutine's
	next  time.Time
}

// counters are those of a rank with a timeline.
type counters struct {
	mu   sync.Mutex // guards all, and what follows; nothing is taken under it
	all  []*counter
	stop chan struct{} // nil before begin
	over bool

	ended sync.WaitGroup // of the goroutine that looks
}

// Count shows a number on the timeline of the rank, as it changes. read is called about once in a millisecond, by a
// goroutine of the timeline, from the start of the job until the rank ends, and once at that end; it must not block.
// Without a timeline Count does nothing.
func (t *Timeline) Count(name string, read func() int64) {
	if t == nil {
		return
	}
	c := &counter{name: t.rec.Name(trace.Label{Text: name, Category: "counter"}), read: read}
	x := &t.counters
	x.mu.Lock()
	defer x.mu.Unlock()
	x.all = append(x.all, c)
}

// CountFrom begins to look at the counters. It is called once, when rank 0 has begun: the timeline has nothing before.
func (t *Timeline) CountFrom() {
	if t == nil {
		return
	}
	x := &t.counters
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.over {
		x.stop = make(chan struct{})
		x.ended.Go(func() { x.lookAtAll(t.numbers) })
	}
}

// lookAtAll records what changes, until close. Its last look is at all: a timeline ends with the final values.
func (x *counters) lookAtAll(lane *trace.Track) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, c := range x.knownCounters() {
			if !time.Now().Before(c.next) {
				c.lookAtOne(lane)
			}
		}
		select {
		case <-x.stop:
			for _, c := range x.knownCounters() {
				c.lookAtOne(lane)
			}
			return
		case <-tick.C:
		}
	}
}

func (x *counters) knownCounters() []*counter {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clip(x.all)
}

func (c *counter) lookAtOne(lane *trace.Track) {
	before := time.Now()
	v := c.read()
	c.next = before.Add(min(lookMost, lookShare*time.Since(before)))
	if c.shown && v == c.last {
		return
	}
	c.shown, c.last = true, v
	lane.Add(trace.Record{Start: lane.Now(), A: uint64(v), Name: c.name, Kind: trace.Count})
}

// closeCounters ends the looks. It may be called again.
func (x *counters) closeCounters() {
	x.mu.Lock()
	if !x.over {
		x.over = true
		if x.stop != nil {
			close(x.stop)
		}
	}
	x.mu.Unlock()
	x.ended.Wait()
}
