package realm

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/rank"
)

// TestEndsFollow: an end is kept back only after a task that was brisk. After one that was not, ever more tasks pass.
func TestEndsFollow(t *testing.T) {
	const brisk = 10
	var x finishBatch
	now := uint64(1)
	for i, s := range []struct {
		took uint64
		want bool
	}{
		{5, false}, // nothing is known of the first
		{5, true},
		{10, true},
		{11, false}, // one task passes
		{5, false},
		{5, true},
		{11, false}, // three pass
		{5, false},
		{5, false},
		{5, false},
		{5, true},
	} {
		now += s.took
		if got := x.follows(now, brisk); got != s.want {
			t.Fatalf("task %d, of %d: %v", i, s.took, got)
		}
	}
	for range 20 {
		now += brisk + 1
		x.follows(now, brisk)
	}
	if x.pass != rarely {
		t.Errorf("after many long tasks %d pass", x.pass)
	}
}

// shut tells that the first task runs. gate is what the last one waits for, without the runtime's knowledge.
var shut, gate atomic.Bool

type lastArgs struct {
	How  int
	Then Event
}

var (
	shutTask = Register("ends/shut", func(c *Ctx, open Event) error { // keeps the processor, and lets its worker poll
		c.HoldProcessor()
		shut.Store(true)
		return c.Wait(open)
	})
	briskTask = Register("ends/brisk", func(*Ctx, struct{}) error { return nil })
)

// lasts are ways in which a task may not return until the task before it is known to have ended. The last two
// have polls send what is kept back.
var lasts = []struct {
	name string
	f    func(c *Ctx, then Event) error
}{
	{"waits", func(c *Ctx, then Event) error { return c.Wait(then) }},
	{"waits and holds", func(c *Ctx, then Event) error {
		c.HoldProcessor()
		return c.Wait(then)
	}},
	{"ends its thread", func(*Ctx, Event) error {
		runtime.Goexit()
		return nil
	}},
	{"waits unknown to the runtime", func(c *Ctx, _ Event) error {
		c.Runtime().coarseClock.Store(1)
		return c.Runtime().OfRank().BlockUntil(gate.Load)
	}},
	{"computes", func(c *Ctx, _ Event) error {
		c.Runtime().coarseClock.Store(1)
		for !gate.Load() {
			runtime.Gosched()
		}
		return nil
	}},
}

var lastTask = Register("ends/last", func(c *Ctx, a lastArgs) error { return lasts[a.How].f(c, a.Then) })

// crowd has rank 1 begin tasks that are there all at once: n brisk ones, of which it returns the ends, and the last.
func crowd(rts []*Runtime, n int, last lastArgs) (brisk []Event, end Event) {
	shut.Store(false)
	gate.Store(false)
	rt, open := rts[0], rts[1].NewUserEvent()
	Spawn(rt, ProcessorOf(1), shutTask, open.Event())
	for !shut.Load() { // then no runner takes what comes
		time.Sleep(time.Millisecond)
	}
	for range n {
		brisk = append(brisk, Spawn(rt, ProcessorOf(1), briskTask, struct{}{}))
	}
	end = Spawn(rt, ProcessorOf(1), lastTask, last)
	for p := rts[1].procs.cpus[0]; ready(p) < n+1; {
		time.Sleep(time.Millisecond)
	}
	open.Trigger(NoEvent)
	return brisk, end
}

// ready is how many tasks of p have not been looked at.
func ready(p *processor) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ready.isEmpty() {
		for x := p.ready.head; x != nil; x = x.next {
			n++
		}
	}
	return n
}

// TestEndsBeforeLong: the end of a task that another rank has spawned becomes known there, whatever the next task does.
func TestEndsBeforeLong(t *testing.T) {
	for how, x := range lasts {
		t.Run(x.name, func(t *testing.T) {
			team(t, 2, rank.Config{}, func(rts []*Runtime) {
				rts[1].coarseClock.Store(1 << 62) // what can be kept back is, and no poll sends it
				rt := rts[0]
				u := rt.NewUserEvent()
				brisk, last := crowd(rts, 8, lastArgs{how, u.Event()})
				must(t, wait(t, rt, rt.Merge(brisk...)))
				gate.Store(true)
				Spawn(rt, ProcessorOf(1), briskTask, struct{}{}) // its message has BlockUntil look again
				must(t, u.Trigger(NoEvent))
				_ = wait(t, rt, last)
			})
		})
	}
}

// TestEndsGathered: brisk tasks of another rank that follow one another have few messages tell of their ends.
func TestEndsGathered(t *testing.T) {
	const n = 600
	team(t, 2, rank.Config{}, func(rts []*Runtime) {
		rts[1].coarseClock.Store(1 << 62)
		before := rts[1].ev.Peers.PeerOf(0).Sent.Load()
		brisk, last := crowd(rts, n, lastArgs{})
		must(t, wait(t, rts[0], rts[0].Merge(append(brisk, last)...)))
		if sent := rts[1].ev.Peers.PeerOf(0).Sent.Load() - before; sent > n/3 {
			t.Errorf("%d tasks, %d messages", n, sent)
		}
	})
}
