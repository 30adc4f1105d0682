package fult

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// StuckReport describes a worker that makes no progress or sleeps in its threads, or a thread that Close waits for.
type StuckReport struct {
	Worker  int
	ID      ID            // the thread, if Thread
	Label   string        // what the thread said it was doing
	Thread  bool          // false: the worker is stuck in a poll function
	Closing bool          // Close waits for the thread, which need not occupy its worker
	For     time.Duration // at least
	Asleep  bool          // most of For, in threads that sleep or block outside of this package, of which Thread is one
	Stack   string        // of the culprit; empty if it moved on meanwhile
}

// String returns the report as text: what is stuck, what could be done, and the stack.
func (r StuckReport) String() string {
	what := "a poll function"
	switch {
	case r.Stack == "" && !r.Thread:
		what = "a call that has ended meanwhile"
	case r.Thread:
		what = strings.TrimSpace(fmt.Sprintf("thread %v %s", r.ID, r.Label))
	}
	if r.Closing {
		return fmt.Sprintf("fult: Close has waited for %s for %v\n%s", what, r.For, r.Advice())
	}
	if r.Asleep {
		return fmt.Sprintf("fult: worker %d has been asleep in %s for most of %v\n%s",
			r.Worker, what, r.For.Round(time.Millisecond), r.Advice())
	}
	return fmt.Sprintf("fult: worker %d has been in %s for %v\n%s", r.Worker, what, r.For, r.Advice())
}

// Advice returns the stack. A line before it names the call of this package to use instead, if there is one.
func (r StuckReport) Advice() string { return remedyFor(r.Stack) + r.Stack }

// remedies lists calls of this package that replace blocking calls. The key is the state in the first line of a stack.
var remedies = []struct{ state, text string }{
	{"[chan send", "it sends on a Go channel: use fult.Send"},
	{"[chan receive", "it receives from a Go channel: use fult.Recv"},
	{"[select", "it is in a select: use fult.Recv, fult.Send or fult.Blocking"},
	{"[sync.Mutex", "it waits for a Go mutex: use fult.Mutex"},
	{"[sync.RWMutex", "it waits for a Go mutex: use fult.Mutex"},
	{"[sync.WaitGroup", "it waits for a Go wait group: use fult.WaitGroup"},
	{"[sync.Cond", "it waits for a Go condition variable: use fult.Cond"},
	{"[semacquire", "it waits for a lock of Go: use those of package fult"},
	{"[sleep", "it sleeps in Go: use fult.Sleep"},
	{"[syscall", "it is in a system call: use fult.Blocking"},
	{"[IO wait", "it waits for input or output: use fult.Blocking"},
}

// remedyFor returns a line with the call to use in place of the blocking one, or an empty text.
func remedyFor(stack string) string {
	head, frames, _ := strings.Cut(stack, "\n")
	if strings.Contains(frames, ").runExternal(") { // a goroutine, which may do all this
		return ""
	}
	for _, r := range remedies {
		if strings.Contains(head, r.state) {
			return r.text + ", which lets the worker's other threads run\n"
		}
	}
	return ""
}

func printStuck(r StuckReport) { fmt.Fprintln(os.Stderr, r) }

const looksPerPeriod = 4 // of the monitor within StuckAfter

// watch is the monitor's memory of a worker.
type watch struct {
	progress uint64
	since    time.Time
	reported bool
}

// monitor watches the workers until the end of Close. A worker that is parked or drains words makes progress.
func (s *Scheduler) monitor() {
	rare := min(max(time.Millisecond, s.cfg.StuckAfter/looksPerPeriod), rareLooks)
	frequent := min(rare, sleepWindow/sleepLooks)
	next := time.NewTimer(rare)
	defer next.Stop()
	watches, sleeps := make([]watch, len(s.workers)), make([]sleepWatch, len(s.workers))
	toldOfSleep := false
	var end closingWatch
	for {
		select {
		case <-s.gone:
			return
		case now := <-next.C:
			if s.live.Load() == 0 {
				next.Reset(rare)
				clear(watches) // a worker that slept meanwhile has made no progress
				clear(sleeps)
				continue
			}
			stacks, pause := sync.OnceValue(s.takeStacks), rare
			for i, w := range s.workers {
				s.lookAt(w, &watches[i], now, stacks)
				if toldOfSleep {
					continue
				}
				if s.lookForSleep(w, &sleeps[i], now, stacks) {
					toldOfSleep, watches[i].reported = true, true
				} else if sleeps[i].isOpen() {
					pause = frequent
				}
			}
			s.lookAtEnd(&end, now)
			next.Reset(pause)
		}
	}
}

// closingWatch is the monitor's memory of Close.
type closingWatch struct {
	since    time.Time // when Close was first seen to wait
	reported bool
}

// lookAtEnd reports the first thread that Close waits for, once.
func (s *Scheduler) lookAtEnd(seen *closingWatch, now time.Time) {
	if !s.killing.Load() || seen.reported {
		return
	}
	if seen.since.IsZero() {
		seen.since = now
	}
	if waited := now.Sub(seen.since); waited >= s.cfg.StuckAfter {
		seen.reported = true
		if r, ok := s.Unended(); ok {
			r.Closing, r.For = true, waited
			s.cfg.OnStuck(r)
		}
	}
}

// Unended reports on one thread that is alive, and returns false if there is none. It prefers a running thread. It is
// for diagnosis, and any goroutine or thread may call it. It stops the world for a moment.
func (s *Scheduler) Unended() (StuckReport, bool) {
	var found *Thread
	for t := range s.Threads() {
		if found == nil {
			found = t
		}
		if t.State() == Running {
			found = t
			break
		}
	}
	if found == nil {
		return StuckReport{}, false
	}
	return StuckReport{
		Worker: found.w.id, Thread: true, ID: found.ID(), Label: found.Label(), Stack: s.takeStacks().Of(found),
	}, true
}

// takeStacks takes the stacks of all goroutines.
func (s *Scheduler) takeStacks() *Stacks { return takeStacks(s.cfg.stack) }

func (s *Scheduler) lookAt(w *Worker, seen *watch, now time.Time, stacks func() *Stacks) {
	p := w.progress.Load()
	if p != seen.progress || w.parked.Load() != awake || seen.since.IsZero() {
		*seen = watch{progress: p, since: now}
		return
	}
	if idle := now.Sub(seen.since); idle >= s.cfg.StuckAfter && !seen.reported {
		seen.reported = true
		s.cfg.OnStuck(w.stuckReport(idle, stacks()))
	}
}

// stuckReport tells what w is in. The loop of w rests while a thread runs.
func (w *Worker) stuckReport(d time.Duration, x *Stacks) StuckReport {
	r := StuckReport{Worker: w.id, For: d}
	loop := x.ofLoop(w)
	if !isResting(loop) {
		r.Stack = loop
		return r
	}
	for t, stack := range x.Running(w.s) {
		if t.w == w {
			r.Thread, r.ID, r.Label, r.Stack = true, t.ID(), t.Label(), stack
			break
		}
	}
	return r
}

// eachDescriptor iterates over the coroutine threads alive. Any goroutine or thread may call it.
func (w *Worker) eachDescriptor(yield func(*Thread) bool) {
	for i := range w.groups {
		g := w.groups[i].Load()
		if g == nil {
			return
		}
		for k := range g.threads {
			t := &g.threads[k]
			if t.alive.Load() != 0 && !yield(t) {
				return
			}
		}
	}
}
