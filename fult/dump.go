package fult

import (
	"bufio"
	"fmt"
	"io"
	"iter"
)

// State is the state of a thread at the time of a look.
type State uint8

const (
	Waiting  State = iota // for a signal
	Runnable              // has been signalled
	Running               // runs now
	Unknown               // a goroutine, whose state only the Go runtime knows
)

// String returns the name of s.
func (s State) String() string {
	return [...]string{"waiting", "runnable", "running", "goroutine"}[s&3]
}

// State returns the state of t, for diagnosis. It may have changed already. It does not block or switch threads.
func (t *Thread) State() State {
	if t.ext != nil {
		return Unknown
	}
	if g := peek(&t.g); g != 0 && g == peek(&t.w.curG) {
		return Running
	}
	n := t.slot
	word := t.grp.shared[n/wordBits%groupWords].Load() | peek64(&t.grp.private[n/wordBits%groupWords])
	if word>>(n%wordBits)&1 != 0 {
		return Runnable
	}
	return Waiting
}

// Threads iterates over the threads alive, worker by worker. Threads may start and end meanwhile.
func (s *Scheduler) Threads() iter.Seq[*Thread] {
	return func(yield func(*Thread) bool) {
		for _, w := range s.workers {
			for t := range w.eachDescriptor {
				if !yield(t) {
					return
				}
			}
			for _, t := range w.exts.aliveThreads() {
				if !yield(t) {
					return
				}
			}
		}
	}
}

func (e *externals) aliveThreads() (live []*Thread) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.all {
		if t.alive.Load() != 0 {
			live = append(live, t)
		}
	}
	return live
}

// Dump writes one line for each worker, and one for each thread with its id, state and label. Any goroutine or thread
// may call it at any time. It blocks as to does. The error is that of to.
func (s *Scheduler) Dump(to io.Writer) error {
	out := bufio.NewWriter(to)
	for _, w := range s.workers {
		state := "awake"
		if w.parked.Load() != awake {
			state = "asleep"
		}
		fmt.Fprintf(out, "worker %d %s, %d threads, %d queued\n", w.id, state, w.Live(), w.queue.n.Load())
	}
	for t := range s.Threads() {
		fmt.Fprintf(out, "thread %v %v %s\n", t.ID(), t.State(), t.Label())
	}
	return out.Flush()
}
