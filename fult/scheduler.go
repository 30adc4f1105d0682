package fult

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/puzpuzpuz/xsync/v4"
)

// Scheduler is a set of workers and their threads. A process may have several, which are independent of each other.
type Scheduler struct {
	cfg      Config // constant
	workers  []*Worker
	poller   Poller    // constant once started
	preparer Preparer  // the poller, if it is one too
	epoch    time.Time // zero of the workers' clock

	live     atomic.Int64  // threads alive and jobs queued
	next     atomic.Uint32 // where Go puts the next job that comes from outside
	sleepers atomic.Int32  // workers whose parked is not awake; see parkAs
	killing  atomic.Bool   // Close has begun
	aborted  atomic.Bool   // Abort or Close has begun
	begun    atomic.Bool   // the workers run

	running  sync.WaitGroup // workers, and threads of the other kinds
	helpers  sync.WaitGroup // goroutines that block in place of threads
	watching sync.WaitGroup // the monitor, which outlasts the others
	stop     chan struct{}  // closed when Abort or Close begins
	gone     chan struct{}  // closed when no worker, thread or helper is left
	end      sync.Once      // of gone

	mu      sync.Mutex // guards what follows
	started bool
	closed  bool
	drained []Waiter // whoever waits for live to become 0
	panics  []*job   // jobs that panicked, at most maxPanics
	errs    []error

	byG *xsync.Map[uintptr, *Thread] // threads of the other kinds by goroutine
}

const maxPanics = 64

// Poller moves messages. Workers call it between words of runnable threads and while they are idle.
type Poller interface {
	// Poll makes progress and returns the number of events that it handled. It must be bounded and must not block. It
	// runs on the stack of the worker's loop. Several workers may call it at once. It may call w.Signal.
	Poll(w *Worker) int
	// Sleep blocks the OS thread until a message arrives, Wake is called or d has passed. It first arms its wake-up and
	// then calls ready. It returns if ready returns true. It returns false at once if another caller is in Sleep.
	Sleep(d time.Duration, ready func() bool) bool
	// Wake ends a Sleep of another caller.
	Wake()
}

// Preparer is a Poller that prepares thread descriptors. Workers call Prepare once for each descriptor, before its
// first thread, on the stack of the loop. Prepare may fill Thread.Local.
type Preparer interface {
	Prepare(t *Thread)
}

// New makes a scheduler. Its workers start with its first thread. The error wraps ErrConfig. The first call in a
// process may run the self-check of coroutines (Config.Effective), which blocks for about 0.1 ms.
func New(cfg Config) (*Scheduler, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Scheduler{
		cfg:   cfg,
		epoch: time.Now(),
		stop:  make(chan struct{}),
		gone:  make(chan struct{}),
		byG:   xsync.NewMap[uintptr, *Thread](),
	}
	for i := range cfg.Workers {
		w := &Worker{id: i, s: s, spin: cfg.Spin, crowded: cfg.Crowded, perPoll: switchesPerPoll, within: ticksOf(cfg.pollWithin)}
		w.rise = w.mustRise
		s.workers = append(s.workers, w)
	}
	return s, nil
}

// SetPoller sets the Poller of all workers. After the start of the first thread the error wraps ErrArgument.
func (s *Scheduler) SetPoller(p Poller) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return fmt.Errorf("fult: SetPoller after the first thread: %w", ErrArgument)
	}
	s.poller = p
	s.preparer, _ = p.(Preparer)
	return nil
}

// Workers returns the number of workers.
func (s *Scheduler) Workers() int { return len(s.workers) }

// Worker returns worker i, counted from 0, or nil if there is none.
func (s *Scheduler) Worker(i int) *Worker {
	if i < 0 || i >= len(s.workers) {
		return nil
	}
	return s.workers[i]
}

// Kind returns the kind of the threads of s (Config.Effective).
func (s *Scheduler) Kind() Kind { return s.cfg.Kind }

// Live returns the number of threads alive. It includes threads that have not started yet.
func (s *Scheduler) Live() int { return int(s.live.Load()) }

// Current returns the calling thread if it is one of s, otherwise nil. It does not block or switch threads.
func (s *Scheduler) Current() *Thread {
	for _, w := range s.workers {
		if isG(&w.curG) {
			return w.currentThread()
		}
	}
	if s.cfg.Kind == Fult {
		return nil
	}
	return s.currentExternal()
}

// Wait blocks the calling goroutine until no thread is alive. A thread of s gets ErrInside.
func (s *Scheduler) Wait() error {
	if s.Current() != nil {
		return ErrInside
	}
	me := NewGoroutine()
	s.mu.Lock()
	s.drained = append(s.drained, me)
	s.mu.Unlock()
	for s.live.Load() != 0 {
		me.Wait()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, x := range s.drained {
		if x == Waiter(me) {
			s.drained = append(s.drained[:i:i], s.drained[i+1:]...)
			break
		}
	}
	return nil
}

// finished accounts for the end of j on w. The caller may run anywhere.
func (s *Scheduler) finished(j *job, w *Worker, err error) {
	w.reserved.Add(-1)
	if _, ok := err.(*PanicError); ok { //nolint:errorlint // made by this package, never wrapped
		s.mu.Lock()
		if len(s.panics) < maxPanics {
			s.panics = append(s.panics, j)
		}
		s.mu.Unlock()
	}
	if j.completeJob(w, err) {
		s.allEnded()
	}
}

// allEnded wakes whoever waits for the last thread's end: callers of Wait, and after Close the workers.
func (s *Scheduler) allEnded() {
	s.mu.Lock()
	for _, x := range s.drained {
		x.Signal()
	}
	s.mu.Unlock()
	if s.killing.Load() {
		for _, w := range s.workers {
			w.wakeWorker()
		}
	}
}

// noteError keeps an error that only Close can report.
func (s *Scheduler) noteError(err error) {
	s.mu.Lock()
	s.errs = append(s.errs, err)
	s.mu.Unlock()
}

// startWorkers starts the workers once; false after Close.
func (s *Scheduler) startWorkers() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.started {
		return true
	}
	s.started = true
	running.addScheduler(s)
	s.begun.Store(true)
	for _, w := range s.workers {
		s.running.Add(1)
		go w.runLoop()
	}
	if s.cfg.StuckAfter > 0 {
		s.watching.Go(s.monitor)
	}
	return true
}

// Close ends every thread and every worker, and returns when they are gone. It blocks. Threads that have not started
// do not start any more. The others unwind at their current or next wait, as by runtime.Goexit, so deferred functions
// run. A wait in a deferred function ends, and the unwinding goes on. Close waits for threads that do not wait, and
// for calls within Blocking. It reports a thread for which it has waited longer than Config.StuckAfter. Call Wait
// before Close to let threads end by themselves.
//
// The error joins the panics of threads that nobody joined. A second Close is harmless. A thread of s gets ErrInside.
func (s *Scheduler) Close() error {
	if s.Current() != nil {
		return ErrInside
	}
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	s.mu.Unlock()
	if first {
		s.killing.Store(true)
		s.Abort()
		s.killExternals() // after killing: those in Pause go on by Abort
	}
	for _, w := range s.workers {
		w.wakeWorker()
	}
	s.running.Wait()
	s.helpers.Wait()
	s.end.Do(func() { close(s.gone) })
	s.watching.Wait()
	running.removeScheduler(s)
	return s.leftovers()
}

// leftovers returns the error of Close. It joins what noteError has kept with the panics of threads that nobody
// joined. It is nil if there are none.
func (s *Scheduler) leftovers() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := s.errs
	for _, j := range s.panics {
		if !j.joined.Load() {
			errs = append(errs, j.err)
		}
	}
	return errors.Join(errs...)
}
