package fult

import (
	"time"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/futex"
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
	timersEvery = 16                    // drained words between two looks at the clock for sleeping threads
	clockEvery  = 64                    // idle turns between two looks at the clock
	pauseEvery  = 8                     // idle turns between PAUSE instructions; each delays signals by about 50 ns
)

func (w *Worker) now() time.Duration { return time.Since(w.s.epoch) }

// tick runs between words of runnable threads. It polls, and looks at timers now and then.
func (w *Worker) tick() {
	w.advance()
	w.poll()
	w.ticks++
	if len(w.timers) != 0 && w.ticks%timersEvery == 0 {
		w.fire(w.now())
	}
}

func (w *Worker) poll() int {
	if w.s.poller == nil {
		return 0
	}
	return w.s.poller.Poll(w)
}

// advance tells the monitor that the worker is not stuck. A store of release order is enough for that and free.
func (w *Worker) advance() { arch.StoreRel64(&w.progress, w.progress.Load()+1) }

// idle is one turn of a loop without runnable threads: it polls, steals, spins, and sleeps in the end.
func (w *Worker) idle() {
	w.advance()
	if w.poll() > 0 || (!w.closing && w.steal()) || w.ready() {
		w.idleTurns = 0
		return
	}
	w.idleTurns++
	if w.spin > 0 && w.idleTurns%clockEvery != 1 {
		if w.idleTurns%pauseEvery == 0 {
			arch.Pause()
		}
		return
	}
	now := w.now()
	if w.fire(now) {
		w.idleTurns = 0
		return
	}
	if w.idleTurns == 1 {
		w.idleSince = now
	}
	if now-w.idleSince >= w.spin {
		w.sleep(w.untilTimer(now))
		w.idleTurns = 0
	}
}

// sleep parks the OS thread until there is work or d has passed.
func (w *Worker) sleep(d time.Duration) {
	w.s.sleepers.Add(1)
	defer w.s.sleepers.Add(-1)
	if p := w.s.poller; p != nil {
		w.parked.Store(inPoller)
		w.at(beforeSleep)
		slept := p.Sleep(d, w.rise)
		w.parked.Store(awake)
		if slept {
			return
		}
		d = min(d, behindSleep)
	}
	w.parked.Store(onFutex)
	w.at(beforeSleep)
	if !w.mustRise() {
		w.at(beforeFutex)
		futex.Wait(&w.parked, onFutex, d)
	}
	w.parked.Store(awake)
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
	return w.ready() || w.stealable()
}

// notify wakes w if it sleeps. The caller has made work for w by a sequentially consistent store.
func (w *Worker) notify() {
	if w.parked.Load() != awake {
		w.wake()
	}
}

// wake wakes w if it sleeps.
func (w *Worker) wake() {
	switch state := w.parked.Load(); {
	case state == awake || !w.parked.CompareAndSwap(state, awake):
	case state == inPoller:
		w.s.poller.Wake()
	default:
		futex.Wake(&w.parked, 1)
	}
}

// wakeOne wakes a worker that sleeps, so that it can steal.
func (s *Scheduler) wakeOne() {
	for _, w := range s.workers {
		if w.parked.Load() != awake {
			w.wake()
			return
		}
	}
}

// unwind ends the threads of w after Close. True: no worker has one any more. The loop calls it until then.
func (w *Worker) unwind() bool {
	w.closing = true
	w.dropQueue()
	for t := w.warm; t != nil; t = w.warm {
		w.warm = t.free
		w.transfer(&w.loop, &t.fiber)
		w.discard(t)
	}
	w.nwarm = 0
	left := false
	for n := range w.slots {
		t := &w.groups[n/groupSize].Load().threads[n%groupSize]
		if t.alive.Load() != 0 {
			w.bits = 0 // threads that stop come back here
			w.budget = 0
			w.transfer(&w.loop, &t.fiber)
			left = left || t.alive.Load() != 0
		}
	}
	return !left && w.s.live.Load() == 0
}
