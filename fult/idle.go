package fult

import (
	"time"

	"github.com/golci/golci/internal/arch"
	"github.com/golci/golci/internal/futex"
)

// States of Worker.parked. The worker stores a parked state and then looks at everything that could be work; others
// make work and then look at the state. One of the two sees the other, because both sides' operations are
// sequentially consistent. Whoever changes the state back to awake owes the wake-up.
const (
	awake uint32 = iota
	onFutex
	inPoller
)

// longSleep stands for "until woken" where a Poller is given a duration.
const longSleep = time.Hour

// behindSleep bounds the sleep of a worker while another one sleeps in the Poller: that one may wake, find a thread that
// computes for long, and not poll meanwhile.
const behindSleep = 50 * time.Millisecond

// timersEvery is how many words are drained between two looks at the clock for sleeping threads.
const timersEvery = 16

// clockEvery is how many idle turns pass between two looks at the clock.
const clockEvery = 64

// pauseEvery is how many idle turns pass between two PAUSEs: each takes some 50 ns on recent cores, by which a signal
// would be seen later.
const pauseEvery = 8

func (w *Worker) now() time.Duration { return time.Since(w.s.epoch) }

// tick is what happens between the words of runnable threads.
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

// idle is one turn of the loop without anything to run: poll, steal, spin, and in the end sleep.
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

// sleep parks the OS thread until there is something to do or d has passed.
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

// mustRise says whether there is a reason not to sleep. A wake-up that came before the sleeper could hear it is one:
// its work may be gone, for another worker has stolen it, but the state is awake, so that nobody would wake this
// worker again.
func (w *Worker) mustRise() bool {
	if w.parked.Load() == awake {
		return true
	}
	if w.s.killing.Load() && (!w.closing || w.s.live.Load() == 0) {
		return true
	}
	return w.ready() || w.stealable()
}

// notify wakes w if it sleeps; the caller has just made work for it by a sequentially consistent store.
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

// unwind ends what is left of threads after Close; true when no thread of any worker is left. The loop calls it until
// then. A thread that waits for a call in the kernel outlasts it for a while.
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
