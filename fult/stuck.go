package fult

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// StuckReport names a worker that has made no progress, and what it is stuck in.
type StuckReport struct {
	Worker int
	ID     ID            // the thread, if InThread
	Label  string        // what the thread said it was doing
	Thread bool          // false: the worker is stuck in a poll function
	For    time.Duration // at least
	Stack  string        // of the culprit; empty if it moved on meanwhile
}

// String returns the report as text.
func (r StuckReport) String() string {
	what := "a poll function"
	if r.Thread {
		what = fmt.Sprintf("thread %v %s", r.ID, r.Label)
	}
	return fmt.Sprintf("fult: worker %d has been in %s for %v\n%s", r.Worker, strings.TrimSpace(what), r.For, r.Stack)
}

func printStuck(r StuckReport) { fmt.Fprintln(os.Stderr, r) }

// looksPerPeriod is how often the monitor looks within StuckAfter.
const looksPerPeriod = 4

// watch is what the monitor remembers of a worker.
type watch struct {
	progress uint64
	since    time.Time
	reported bool
}

// monitor watches the workers until Close. A worker that is parked, or that drains words, is well.
func (s *Scheduler) monitor() {
	ticker := time.NewTicker(max(time.Millisecond, s.cfg.StuckAfter/looksPerPeriod))
	defer ticker.Stop()
	watches := make([]watch, len(s.workers))
	for {
		select {
		case <-s.stop:
			return
		case now := <-ticker.C:
			if s.live.Load() == 0 {
				continue
			}
			for i, w := range s.workers {
				s.look(w, &watches[i], now)
			}
		}
	}
}

func (s *Scheduler) look(w *Worker, seen *watch, now time.Time) {
	p := w.progress.Load()
	if p != seen.progress || w.parked.Load() != awake || seen.since.IsZero() {
		*seen = watch{progress: p, since: now}
		return
	}
	if idle := now.Sub(seen.since); idle >= s.cfg.StuckAfter && !seen.reported {
		seen.reported = true
		s.cfg.OnStuck(w.stuckReport(idle))
	}
}

func (w *Worker) stuckReport(d time.Duration) StuckReport {
	r := StuckReport{Worker: w.id, For: d}
	t := w.runningThread()
	if t == nil {
		r.Stack = findStack(fmt.Sprintf("(*Worker).run(%p", w))
		return r
	}
	r.Thread, r.ID, r.Label = true, t.ID(), t.Label()
	r.Stack = findStack(fmt.Sprintf("(*Thread).main(%p", t))
	return r
}

// runningThread returns the thread that seems to run on w, for another goroutine's diagnosis.
func (w *Worker) runningThread() *Thread {
	g := peek(&w.curG)
	for t := range w.descriptors {
		if g != 0 && peek(&t.g) == g {
			return t
		}
	}
	return nil
}

// descriptors goes through the coroutine threads that are alive; anybody may call it.
func (w *Worker) descriptors(yield func(*Thread) bool) {
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

// stackText is how much text of all goroutines' stacks a report searches; with a million threads it is not all.
const stackText = 64 << 20

// findStack returns the stack that has a frame whose text contains frame. It stops the world for a moment.
func findStack(frame string) string {
	for size := 1 << 20; ; size *= 8 {
		buf := make([]byte, min(size, stackText))
		n := runtime.Stack(buf, true)
		for one := range strings.SplitSeq(string(buf[:n]), "\n\n") {
			if strings.Contains(one, frame) {
				return one
			}
		}
		if n < len(buf) || size >= stackText {
			return ""
		}
	}
}
