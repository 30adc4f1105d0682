// Package progress makes things happen while somebody waits: it decides who polls, how long to spin, and who sleeps.
//
// Polling is a role, not a thread. Fult workers poll between their threads and when idle. A goroutine that waits polls
// itself while nobody else does. If another drives, it parks and is woken by its own completion. A driver that leaves
// hands the role to a parked one. All spin for a bounded time, then sleep in the source (a conduit), which mail ends.
package progress

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
)

// Source is what is polled.
type Source interface {
	// Poll handles what has arrived, a bounded amount, and returns how much; -1 if another caller is polling.
	Poll(w *fult.Worker) int
	// Sleep blocks until mail, Wake or d; it looks at ready after arming. False at once if somebody sleeps there.
	Sleep(d time.Duration, ready func() bool) bool
	// Wake ends a Sleep.
	Wake()
}

// Config tunes waiting.
type Config struct {
	Spin      time.Duration // polling in vain before a sleep; 0 means DefaultSpin, negative not at all
	Crowded   bool          // ranks share cores: waiters let others run at once
	Share     func()        // gives the core to another rank that can run; nil: they sleep instead of spinning
	Dedicated bool          // somebody calls Serve: waiters do not poll
}

// DefaultSpin is long enough to bridge the peer's normal work between two messages; an idle job uses no noticeable CPU.
const DefaultSpin = 50 * time.Microsecond

const (
	inlinePolls   = 256                    // polls of a thread before it gives up the core
	inlineThreads = 4                      // only while that few threads live on the worker: thread stacks stay small
	sleepLimit    = 500 * time.Millisecond // a sleeper looks up that often anyway
	firstNap      = time.Millisecond       // of a goroutine behind a sleeping worker; each is twice the one before
	lastNap       = 256 * time.Millisecond
	clockEvery    = 256 // a power of two: polls between looks at the clock, and turns for other goroutines: for a locked OS thread each is a switch
)

// Engine is the progress of one rank.
type Engine struct {
	src       Source
	sched     *fult.Scheduler
	spin      time.Duration
	crowded   bool   // each poll in vain is followed by share
	share     func() // lets others run
	dedicated bool
	keepers   []keeper

	driving atomic.Uint32 // 1 while a goroutine drives
	groups  sync.Pool     // of *Group for goroutines

	parked groupList // goroutines that wait behind a driver, oldest first
	behind groupList // workers that sleep while a goroutine drives

	turns turns
}

// New makes an engine over src. sched may be nil; threads of another kind than fult.Fult count as goroutines.
func New(src Source, sched *fult.Scheduler, cfg Config) *Engine {
	if sched != nil && sched.Kind() != fult.Fult {
		sched = nil // its threads are goroutines, and wait as such
	}
	e := &Engine{src: src, sched: sched, spin: cmp.Or(cfg.Spin, DefaultSpin), dedicated: cfg.Dedicated}
	e.share = runtime.Gosched
	switch {
	case e.spin < 0 || cfg.Crowded && cfg.Share == nil:
		e.spin = 0
	case cfg.Crowded:
		e.crowded, e.share = true, cfg.Share
	}
	e.groups.New = func() any { return newGroup(e, nil) }
	return e
}

// Scheduler is the scheduler whose threads wait here, or nil.
func (e *Engine) Scheduler() *fult.Scheduler { return e.sched }

// Dedicated reports whether somebody calls Serve, so that waiters do not poll.
func (e *Engine) Dedicated() bool { return e.dedicated }

// Spins reports whether waiters poll for a time before they sleep, and keep their core meanwhile.
func (e *Engine) Spins() bool { return e.spin > 0 && !e.crowded }

// Current is the fult thread that calls, or nil for a goroutine.
func (e *Engine) Current() *fult.Thread {
	if e.sched == nil {
		return nil
	}
	return e.sched.Current()
}

// Begin makes d fresh, for an operation that the caller, maybe a fult thread that d then expects, is going to wait for.
func (e *Engine) Begin(d *Done) {
	d.Reset()
	if t := e.Current(); t != nil {
		d.Expect(t)
	}
}

const maxKeepers = 3 // layers that may keep something for each thread

// Local is what the engine and the layers above keep for each fult thread, across the threads that use its slot.
type Local struct {
	group *Group
	Kept  [maxKeepers]any // by the place that Keep gave
}

// keeper is what makes a layer's part of a Local.
type keeper struct {
	layer string
	make  func(t *fult.Thread) any
}

// Local of t; only t itself may call it.
func (e *Engine) Local(t *fult.Thread) *Local {
	p := t.Local()
	if l, ok := (*p).(*Local); ok {
		return l
	}
	l := new(Local)
	*p = l
	return l
}

// groupOf gives t its group, which only waits for several operations need.
func (e *Engine) groupOf(t *fult.Thread) *Group {
	l := e.Local(t)
	if l.group == nil {
		l.group = newGroup(e, t)
	}
	return l.group
}

// Keep gives the named layer a place in Local.Kept, less than maxKeepers. make gives what is kept there. It is called
// for the first thread of each slot, on the worker's stack, because a thread's own stack would grow for it. Threads
// that are goroutines make it at first use. Call Keep before the first thread. The error names who has the places.
func (e *Engine) Keep(layer string, make func(t *fult.Thread) any) (place int, err error) {
	if len(e.keepers) == maxKeepers {
		return 0, fmt.Errorf("progress: no place for what %q keeps for each thread: %q, %q and %q have all %d",
			layer, e.keepers[0].layer, e.keepers[1].layer, e.keepers[2].layer, maxKeepers)
	}
	e.keepers = append(e.keepers, keeper{layer, make})
	return len(e.keepers) - 1, nil
}

// prepareThread makes what the layers keep for t.
func (e *Engine) prepareThread(t *fult.Thread) {
	if len(e.keepers) == 0 {
		return
	}
	l := e.Local(t)
	for i, k := range e.keepers {
		if l.Kept[i] == nil {
			l.Kept[i] = k.make(t)
		}
	}
}

// Poll handles what has arrived; see Source. Any goroutine or thread may call it.
func (e *Engine) Poll() int {
	if t := e.Current(); t != nil {
		return e.src.Poll(t.Worker())
	}
	return e.src.Poll(nil)
}

// Wake has whoever sleeps in the source look again.
func (e *Engine) Wake() { e.src.Wake() }

// Wait blocks the caller until d is ready, and polls while nobody else does. A fult thread gives its core to others.
func (e *Engine) Wait(d *Done) {
	if d.Ready() {
		return
	}
	if t := d.thread; t != nil {
		for done := e.Linger(t, d); !done; done = d.Ready() {
			t.Pause()
		}
		return
	}
	x := want{one: d}
	if t := e.Current(); t != nil {
		e.threadWait(t, &x)
		return
	}
	if e.dedicated || !e.spinFor(d, nil) {
		e.goWait(&x)
	}
}

// WaitAny blocks until at least one of ds is ready. Nil entries do not count; with none left it returns at once.
func (e *Engine) WaitAny(ds []*Done) { e.waitMany(&want{ds: ds, any: true}) }

// WaitAll blocks until all of ds are ready; nil entries do not count. There is one wake-up, at the last.
func (e *Engine) WaitAll(ds []*Done) { e.waitMany(&want{ds: ds}) }

func (e *Engine) waitMany(x *want) {
	if x.isOver() {
		return
	}
	if t := e.Current(); t != nil {
		e.threadWait(t, x)
		return
	}
	e.goWait(x)
}

// Linger polls a little on behalf of t, while its worker has nothing else to run, and reports whether d is ready. It is
// the short way to wait: a thread that d expects may call Linger and then t.Pause instead of Wait.
func (e *Engine) Linger(t *fult.Thread, d *Done) bool {
	w := t.Worker()
	if e.dedicated || w.Live() > inlineThreads {
		return d.Ready()
	}
	for n := 0; n < inlinePolls && !d.Ready() && !w.Runnable() && !w.OthersWork(); n++ {
		e.src.Poll(w)
	}
	return d.Ready()
}

// LingerFor polls a little for the caller and reports whether d is ready. It ends early when alarm, if not nil, is.
func (e *Engine) LingerFor(d, alarm *Done) bool {
	if t := e.Current(); t != nil {
		return e.Linger(t, d)
	}
	return !e.dedicated && e.spinFor(d, alarm)
}

// looks is how often a condition is looked at between two polls: a look is quicker than a poll.
const looks = 8

// LingerUntil polls a little for the caller and reports whether over has become true, which is looked at often. It ends
// early when alarm is ready.
func (e *Engine) LingerUntil(over func() bool, alarm *Done) bool {
	if t := e.Current(); t != nil {
		return e.threadUntil(t, over, alarm)
	}
	s := newSpinner(e)
	for {
		for range looks {
			if over() {
				return true
			}
		}
		got := 0
		if !e.dedicated {
			got = e.src.Poll(nil)
		}
		if alarm.Ready() || s.isOver(got) {
			return over()
		}
	}
}

// threadUntil is LingerUntil for a thread, while its worker has nothing else to run.
func (e *Engine) threadUntil(t *fult.Thread, over func() bool, alarm *Done) bool {
	w := t.Worker()
	for n := 0; n < inlinePolls && !w.Runnable() && !w.OthersWork() && !alarm.Ready(); n++ {
		for range looks {
			if over() {
				return true
			}
		}
		if !e.dedicated && w.Live() <= inlineThreads {
			e.src.Poll(w)
		}
	}
	return over()
}

// Shares reports whether waiters poll for a time before they sleep, and maybe let others have their core meanwhile.
func (e *Engine) Shares() bool { return e.spin > 0 }

// threadWait is the wait of a fult thread for several operations.
func (e *Engine) threadWait(t *fult.Thread, x *want) {
	x.beginWant(e.groupOf(t))
	defer x.endWant()
	w := t.Worker()
	if !e.dedicated && w.Live() <= inlineThreads {
		for n := 0; n < inlinePolls && !w.Runnable() && !w.OthersWork(); n++ {
			e.src.Poll(w)
			if x.isOver() {
				return
			}
		}
	}
	for !x.isOver() {
		if x.watchPending() {
			t.Pause()
		}
	}
}

// spinFor polls for a goroutine until d is ready, alarm is, or the spinning time is over.
func (e *Engine) spinFor(d, alarm *Done) bool {
	s := newSpinner(e)
	for {
		got := e.src.Poll(nil)
		if d.Ready() {
			return true
		}
		if alarm != nil && alarm.Ready() {
			return false
		}
		if s.isOver(got) {
			d.spun = true // the wait that follows does not spin again
			return false
		}
		if got < 0 {
			arch.Pause()
		}
	}
}

// goWait is the wait of a goroutine: it drives if nobody does, else it parks.
func (e *Engine) goWait(x *want) {
	g := e.groups.Get().(*Group)
	x.beginWant(g)
	s := newSpinner(e)
	s.spent = x.hasSpun()
	for !x.isOver() {
		if e.dedicated {
			e.behindServer(x, &s)
			continue
		}
		if e.driving.CompareAndSwap(0, 1) {
			e.driveWait(x, &s)
			e.driving.Store(0)
			e.wakeBehind()
			break
		}
		e.followDriver(x)
	}
	x.endWant()
	e.handOver()
	g.drainSignals()
	e.groups.Put(g)
}

// driveWait polls and sleeps until the wait is over. After a sleep it spins again only if it finds something.
func (e *Engine) driveWait(x *want, s *spinner) {
	g := x.g
	nap := firstNap
	for {
		for !s.isOver(e.src.Poll(nil)) && !x.isOver() {
			continue
		}
		if x.isOver() {
			return
		}
		g.drainSignals()
		if !x.watchPending() {
			continue
		}
		g.asleep.Store(true) // before ready is looked at, after arming: a signal in between wakes the source
		slept := e.src.Sleep(sleepLimit, g.ready)
		g.asleep.Store(false)
		if slept {
			nap = firstNap
			continue
		}
		g.parkFor(nap) // a worker sleeps there, and polls when it wakes, unless it then computes
		nap = min(2*nap, lastNap)
	}
}

// followDriver parks behind a driver. It lists itself before it looks once more whether somebody drives, and a leaving
// driver frees the role before it looks at the list: one of them sees the other.
func (e *Engine) followDriver(x *want) {
	g := x.g
	g.drainSignals()
	if !x.watchPending() {
		return
	}
	e.parked.pushGroup(g)
	if e.driving.Load() != 0 && !x.isOver() {
		g.parkFor(0)
	}
	e.parked.removeGroup(g)
}

// handOver wakes one parked goroutine to become the driver, if there is no driver. Each goroutine that stops waiting
// calls it, whether it was the driver or not.
func (e *Engine) handOver() {
	if e.parked.n.Load() == 0 || e.driving.Load() != 0 {
		return
	}
	if g := e.parked.popGroup(); g != nil {
		g.rouseWaiter(nil)
	}
}

// Yield lets others run once: what polls in a loop calls it.
func (e *Engine) Yield() {
	if t := e.Current(); t != nil {
		t.Yield()
		return
	}
	runtime.Gosched()
}
