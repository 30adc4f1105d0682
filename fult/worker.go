package fult

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/arch"
)

// Worker runs threads on one OS thread.
type Worker struct {
	// Owner's line: changes at every switch. curG is also read by isG and peek.
	cur     *fiber            // who runs, or is about to
	curG    uintptr           // its goroutine, for isG
	bits    uint64            // what is left of the level-1 word being drained
	grp     *group            // the group of that word
	block   *[wordBits]Thread // its threads
	word    int32             // its number in the group
	budget  int32             // how many more threads may be taken before the poll functions are due
	granted int32             // what the budget was, with the threads taken at first
	closing bool              // set by the worker itself when it sees the scheduler's
	crowded bool              // Config.Crowded; constant
	_       [10]byte
	pad1    [falseSharing]byte

	level2 set2
	_      [falseSharing]byte

	// What signallers read; parked changes only when the worker sleeps or wakes, so the line stays shared.
	parked atomic.Uint32 // awake, onFutex or inPoller; see idle.go
	id     int
	s      *Scheduler
	_      [falseSharing]byte

	// Owned by the worker, colder.
	loop      fiber
	slots     int // slots ever used
	warm      *Thread
	cold      *Thread
	nwarm     int
	timers    timers
	within    uint64 // Config.pollWithin in ticks; constant
	perPoll   int32  // threads taken of a word at once; switchesPerPoll: all, and that many more
	begun     uint64 // by arch.Ticks, when the threads began to run; 0: nobody has looked, as they are few and block
	idleSince time.Duration
	idleTurns uint
	ticks     uint
	yields    uint // how often it has yielded the core; only tests ask
	spin      time.Duration
	seen      uint64      // what the progress of the other workers came to when w last asked
	rise      func() bool // mustRise, made once

	groups   [groupsPerWorker]atomic.Pointer[group] // stored by the worker, read by dumps as well
	busy     atomic.Bool                            // it has work, as it knows; owner stores, if workers share cores
	progress atomic.Uint64                          // words drained, for the monitor; owner stores
	tid      atomic.Int32                           // the OS thread, for the monitor; owner stores, once
	queue    queue                                  // jobs not started; anybody
	reserved atomic.Int64                           // threads alive and jobs queued here
	exts     externals                              // threads of the other kinds
}

const (
	falseSharing    = 128 // bytes between fields of different writers; cores fetch lines in pairs
	switchesPerPoll = 32  // among threads after those of a word, before a poll, if they take no longer than pollWithin
)

// ID returns the number of the worker within its scheduler, from 0.
func (w *Worker) ID() int { return w.id }

// Live returns the number of threads alive on the worker, queued ones included.
func (w *Worker) Live() int { return int(w.reserved.Load()) }

// Signal is t.Signal without atomic operations if the caller runs on w and t belongs to w. Poll functions and threads
// of w should use it. It is correct but slower for other callers. It does not block or switch threads.
func (w *Worker) Signal(t *Thread) {
	if t.w == w && t.ext == nil && isG(&w.curG) {
		t.raisePrivate()
		return
	}
	t.Signal()
}

// Runnable tells whether another thread of w is ready to run, or a job is ready to start. It is for a thread of w that
// polls before it gives up the worker. The caller's own bit counts, too. It does not block.
func (w *Worker) Runnable() bool {
	if w.bits != 0 {
		return true
	}
	return w.hasReady()
}

// hasReady tells whether a bit is set or a job is queued. Owner only.
func (w *Worker) hasReady() bool {
	if w.slots != 0 && w.groups[0].Load().hasSignals() {
		return true
	}
	for i := 0; i*groupSize*wordBits < w.slots; i++ {
		if w.level2.private[i]|w.level2.shared[i].Load() != 0 {
			return true
		}
	}
	return w.queue.n.Load() != 0
}

// pickNext returns the next target of the running coroutine. While the budget lasts, it takes the same word again.
func (w *Worker) pickNext() *fiber {
	for {
		for w.bits != 0 {
			t := &w.block[bits.TrailingZeros64(w.bits)]
			w.bits &= w.bits - 1
			if t.alive.Load() != 0 {
				return &t.fiber
			}
		}
		if w.budget <= 0 || !w.retakeWord() {
			return &w.loop
		}
	}
}

// retakeWord takes the current word once more, within the budget.
func (w *Worker) retakeWord() bool {
	g, i := w.grp, int(w.word)
	if g.private[i] == 0 && g.shared[i].Load() == 0 {
		return false
	}
	v := g.takeWord(i)
	w.bits = v
	w.budget -= int32(bits.OnesCount64(v))
	if w.begun == 0 {
		w.begun = arch.Ticks()
	}
	return true
}

// runLoop is the worker's goroutine.
func (w *Worker) runLoop() {
	defer w.s.running.Done()
	runtime.LockOSThread() // for good: a pinned OS thread must not go back to the runtime
	w.pinThread()
	w.tid.Store(int32(osThread()))
	w.curG = arch.G()
	w.loop.g, w.cur = w.curG, &w.loop
	for {
		ran := w.passOnce()
		if w.admitJobs() || ran {
			w.idleTurns = 0
			continue
		}
		if w.s.killing.Load() && w.unwindThreads() {
			return
		}
		w.idleTurn()
	}
}

// passOnce goes once through the bit-vector and runs what it finds.
func (w *Worker) passOnce() (ran bool) {
	for i := 0; i*groupSize*wordBits < w.slots; i++ {
		for v := w.level2.take2(i); v != 0; v &= v - 1 {
			w.atHook(betweenTakes)
			g := w.groups[i*wordBits+bits.TrailingZeros64(v)].Load()
			for j := range groupWords {
				if b := g.takeWord(j); b != 0 {
					w.drainWord(g, j, b)
					ran = true
				}
			}
		}
	}
	return ran
}

// drainWord runs the threads of the bits b of one word, and then polls; also between them, if they compute for long.
func (w *Worker) drainWord(g *group, word int, b uint64) {
	w.noteWork()
	w.grp, w.word = g, int32(word)
	w.block = (*[wordBits]Thread)(g.threads[word*wordBits:])
	for b != 0 {
		b = w.grantBits(b)
		for {
			to := w.pickNext()
			if to == &w.loop {
				break
			}
			w.transferTo(&w.loop, to)
			if w.bits == 0 {
				break
			}
		}
		w.onTick()
	}
}

// currentThread returns the thread that runs the caller; the caller runs on w.
func (w *Worker) currentThread() *Thread {
	if w.cur == &w.loop {
		return nil
	}
	return (*Thread)(unsafe.Pointer(w.cur)) // the fiber is its first field
}

func (w *Worker) pinThread() {
	if len(w.s.cfg.Pin) == 0 {
		return
	}
	if err := affinity.Set(w.s.cfg.Pin[w.id]); err != nil {
		w.s.noteError(err)
	}
}
