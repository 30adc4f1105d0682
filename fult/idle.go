package fult

import (
	"time"

	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/futex"
)

// States of Worker.parked. A worker stores a parked state, and then looks for work everywhere. Others make work, and
// then look at the state. Operations of both sides are sequentially consistent, so one side sees the other. The one
// that changes the state back to awake must wake the worker.
const (
	awake uint32 = iota
	onFutex
	inPoller
)

const (
	longSleep   = time.Hour             // of a Poller that should sleep until it is woken
	behindSleep = 50 * time.Millisecond // while another worker sleeps in the Poller, which may then compute for long
	besideSleep = time.Millisecond      // while another worker on the same cores polls, which may then compute for long
	timersEvery = 16                    // drained words between two looks at the clock, and at other workers
	clockEvery  = 64                    // idle turns between two looks at the clock
	yieldEvery  = 256                   // idle turns between yields on a shared core, while no other worker has work
	pauseEvery  = 8                     // idle turns between PAUSE instructions; each delays signals by about 50 ns
)

func (w *Worker) now() time.Duration { return time.Since(w.s.epoch) }

// onTick runs between words of runnable threads. It polls. Now and then it looks at timers, and shares the core.
func (w *Worker) onTick() {
	w.noteProgress()
	late := w.setPace()
	w.pollOnce()
	w.ticks++
	if w.ticks%timersEvery != 0 && !late {
		return
	}
	if len(w.timers) != 0 {
		w.fireTimers(w.now())
	}
	if w.OthersWork() { // else the other one, which gives way when idle, would get a time slice now and then only
		w.yieldCore()
	}
}

func (w *Worker) pollOnce() int {
	if w.s.poller == nil {
		return 0
	}
	return w.s.poller.Poll(w)
}

// noteProgress tells the monitor that the worker is not stuck. A store of release order is enough for that and free.
func (w *Worker) noteProgress() { arch.StoreRel64(&w.progress, w.progress.Load()+1) }

// idleTurn is one turn of a loop without runnable threads: it polls, steals, spins, and sleeps in the end.
func (w *Worker) idleTurn() {
	w.noteProgress()
	w.noteIdle()
	if w.pollOnce() > 0 || (!w.closing && w.stealJobs()) || w.hasReady() {
		w.idleTurns = 0
		return
	}
	w.idleTurns++
	if w.givesWay() {
		w.yieldCore()
	}
	if w.spin > 0 && w.idleTurns%clockEvery != 1 {
		if w.idleTurns%pauseEvery == 0 {
			arch.Pause()
		}
		return
	}
	now := w.now()
	if w.fireTimers(now) {
		w.idleTurns = 0
		return
	}
	if w.idleTurns == 1 {
		w.idleSince = now
	}
	if now-w.idleSince >= w.spin {
		w.idleTurns = 0
		w.sleepFor(w.untilTimer(now))
	}
}

// givesWay tells whether w, which is idle, lets another OS thread run before its next turn. Where workers share cores,
// one that only polls would keep the core from one that has work. Now and then it gives way all the same, because
// threads of other schedulers and processes may wait. A yield takes as long as 20 polls, also if nobody waits.
func (w *Worker) givesWay() bool {
	return w.crowded && (w.idleTurns%yieldEvery == 0 || w.othersWork())
}

// yieldCore lets another OS thread have the core.
func (w *Worker) yieldCore() {
	w.yields++
	affinity.Yield()
}

// OthersWork tells whether workers share cores and another one has work, so that it may wait for the core of w. It is
// for a thread of w that polls before it gives up the worker.
func (w *Worker) OthersWork() bool { return w.crowded && w.othersWork() }

// othersWork passes over workers that sleep: a caller that makes work for one wakes it.
func (w *Worker) othersWork() bool {
	for _, v := range w.s.workers {
		if v != w && v.parked.Load() == awake && (v.busy.Load() || v.hasPending()) {
			return true
		}
	}
	return false
}

// hasPending tells whether others have made work for w that it has not taken. Anyone may call it.
func (w *Worker) hasPending() bool {
	if g := w.groups[0].Load(); g != nil && g.hasSignals() {
		return true
	}
	for i := range w.level2.shared {
		if w.level2.shared[i].Load() != 0 {
			return true
		}
	}
	return w.queue.n.Load() != 0
}

// noteWork notes that w has work, for workers that share its cores.
func (w *Worker) noteWork() {
	if w.crowded && !w.busy.Load() {
		w.busy.Store(true)
	}
}

// noteIdle is the opposite of noteWork.
func (w *Worker) noteIdle() {
	if w.crowded && w.busy.Load() {
		w.busy.Store(false)
	}
}

// othersAwake tells whether workers share cores and another one is awake.
func (w *Worker) othersAwake() bool {
	return w.crowded && int(w.s.sleepers.Load()) < len(w.s.workers)-1
}

// sleepFor parks the OS thread until there is work or d has passed. Where workers share cores only the last one sleeps
// in the Poller: there each message would wake it, though others poll, and take the core from them.
func (w *Worker) sleepFor(d time.Duration) {
	switch {
	case w.s.poller == nil:
		w.napFor(d, false)
	case w.othersPoll():
		if !w.napFor(min(d, besideSleep), true) {
			w.idleTurns = clockEvery // without work it sleeps again at the next turn
		}
	case !w.sleepInPoller(d):
		w.napFor(min(d, behindSleep), false)
	}
}

// othersPoll tells whether another worker that w shares cores with is awake, and has polled since the last call. One
// that computes for long does not poll.
func (w *Worker) othersPoll() bool {
	if !w.othersAwake() {
		return false
	}
	sum := uint64(0)
	for _, v := range w.s.workers {
		if v != w {
			sum += v.progress.Load()
		}
	}
	polled := sum != w.seen
	w.seen = sum
	return polled
}

// sleepInPoller returns false at once if another worker sleeps there.
func (w *Worker) sleepInPoller(d time.Duration) bool {
	w.parkAs(inPoller)
	slept := w.s.poller.Sleep(d, w.rise)
	w.unparkSelf()
	return slept
}

// napFor sleeps on the futex, and tells whether somebody has woken w. With beside, w does not sleep if it is the last
// one awake. Each counts itself a sleeper before it looks at the counter, so one of them stays to sleep in the Poller.
func (w *Worker) napFor(d time.Duration, beside bool) (woken bool) {
	w.parkAs(onFutex)
	if !w.mustRise() && (!beside || int(w.s.sleepers.Load()) < len(w.s.workers)) {
		w.atHook(beforeFutex)
		futex.Wait(&w.parked, onFutex, d)
	}
	return w.unparkSelf()
}

// parkAs makes w a sleeper. The counter comes first: a maker of work that may be stolen looks there, and w looks for
// such work after both stores. Who changes parked back to awake counts w out, once.
func (w *Worker) parkAs(state uint32) {
	w.s.sleepers.Add(1)
	w.parked.Store(state)
	w.atHook(beforeSleep)
}

// unparkSelf makes w awake, and tells whether somebody else has done that.
func (w *Worker) unparkSelf() (woken bool) {
	if w.parked.Swap(awake) == awake {
		return true
	}
	w.s.sleepers.Add(-1)
	return false
}

// mustRise tells whether there is a reason not to sleep. One reason is a wake-up before the worker has blocked. Another
// worker may have stolen its work since. But the state is awake already, so no caller would wake this worker again.
func (w *Worker) mustRise() bool {
	if w.parked.Load() == awake {
		return true
	}
	if w.s.killing.Load() && (!w.closing || w.s.live.Load() == 0) {
		return true
	}
	return w.hasReady() || w.hasStealable()
}

// notifyWorker wakes w if it sleeps. The caller has made work for w by a sequentially consistent store.
func (w *Worker) notifyWorker() {
	if w.parked.Load() != awake {
		w.wakeWorker()
	}
}

// wakeWorker wakes w if it sleeps. It counts w out of the sleepers before w runs.
func (w *Worker) wakeWorker() {
	state := w.parked.Load()
	if state == awake || !w.parked.CompareAndSwap(state, awake) {
		return
	}
	w.s.sleepers.Add(-1)
	if state == inPoller {
		w.s.poller.Wake()
		return
	}
	futex.Wake(&w.parked, 1)
}

// wakeOne wakes one sleeping worker, so that it can steal jobs. It does nothing if none sleeps.
func (s *Scheduler) wakeOne() {
	for _, w := range s.workers {
		if w.parked.Load() != awake {
			w.wakeWorker()
			return
		}
	}
}

// unwindThreads ends the threads of w after Close. True: no worker has one any more. The loop calls it until then.
func (w *Worker) unwindThreads() bool {
	w.closing = true
	w.dropQueue()
	for t := w.warm; t != nil; t = w.warm {
		w.warm = t.free
		w.transferTo(&w.loop, &t.fiber)
		w.discardThread(t)
	}
	w.nwarm = 0
	left := false
	for n := range w.slots {
		t := &w.groups[n/groupSize].Load().threads[n%groupSize]
		if t.alive.Load() != 0 {
			w.bits = 0 // threads that stop come back here
			w.budget = 0
			w.transferTo(&w.loop, &t.fiber)
			left = left || t.alive.Load() != 0
		}
	}
	return !left && w.s.live.Load() == 0
}
