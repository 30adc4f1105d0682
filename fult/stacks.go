package fult

import (
	"fmt"
	"iter"
	"runtime"
	"strconv"
	"strings"
	"unsafe"
)

// Stacks holds the stacks of all goroutines of the process, as they were at one moment. Taking them stops the world: for
// some 10 us with each goroutine. So a report takes them once, for all threads and schedulers that it tells of.
type Stacks struct {
	text string
	cut  bool
}

const (
	stackRoom  = 4 << 10 // bytes for a goroutine; a thread that waits needs half of it
	stacksMost = 1 << 30 // bytes; only those that are written take memory
)

// TakeStacks takes the stacks of all goroutines. It blocks while the world is stopped.
func TakeStacks() *Stacks { return takeStacks(runtime.Stack) }

// takeStacks calls stack once. A buffer that is too small would have to be filled again, with the world stopped again.
func takeStacks(stack func(buf []byte, all bool) int) *Stacks {
	buf := make([]byte, min(stacksMost, 1<<20+stackRoom*runtime.NumGoroutine()))
	n := stack(buf, true)
	return &Stacks{unsafe.String(&buf[0], n), n == len(buf)}
}

// All iterates over the stacks, each in the form of runtime.Stack.
func (x *Stacks) All() iter.Seq[string] { return strings.SplitSeq(x.text, "\n\n") }

// Cut tells whether stacks are missing because they would take too much memory.
func (x *Stacks) Cut() bool { return x.cut }

// Of returns the stack of t, or an empty text if it is not there.
func (x *Stacks) Of(t *Thread) string {
	if t.ext != nil {
		return x.stackWith(fmt.Sprintf("(*Thread).runExternal(%p", t))
	}
	return x.stackWith(fmt.Sprintf("(*Thread).main(%p", t))
}

// ofLoop returns the stack of the loop of w.
func (x *Stacks) ofLoop(w *Worker) string { return x.stackWith(fmt.Sprintf("(*Worker).runLoop(%p", w)) }

// stackWith returns the stack that has a frame whose text contains frame.
func (x *Stacks) stackWith(frame string) string {
	at := strings.Index(x.text, frame)
	if at < 0 {
		return ""
	}
	begin := strings.LastIndex(x.text[:at], "\n\n")
	if begin < 0 {
		begin = -2
	}
	one, _, _ := strings.Cut(x.text[begin+2:], "\n\n")
	return one
}

// Running iterates over the threads of s that run, or block their worker, and their stacks. Threads that are
// goroutines are left out: all of them may run.
func (x *Stacks) Running(s *Scheduler) iter.Seq2[*Thread, string] {
	return func(yield func(*Thread, string) bool) {
		for one := range x.All() {
			if isResting(one) {
				continue
			}
			if t := s.threadOf(one); t != nil && !yield(t, one) {
				return
			}
		}
	}
}

// threadOf returns the thread of s, alive, that has the stack, or nil.
func (s *Scheduler) threadOf(stack string) *Thread {
	_, arg, ok := strings.Cut(stack, "fult.(*Thread).main(0x")
	if !ok {
		return nil
	}
	p, err := strconv.ParseUint(arg[:max(0, strings.IndexAny(arg, "?,)"))], 16, 64)
	if err != nil {
		return nil
	}
	for _, w := range s.workers {
		for t := range w.eachDescriptor {
			if uint64(uintptr(unsafe.Pointer(t))) == p {
				return t
			}
		}
	}
	return nil
}

// isResting tells whether stack is that of a coroutine that waits for its turn, or of a loop while a thread runs. The
// runtime knows that of its own, whatever the worker has noted.
func isResting(stack string) bool {
	head, _, _ := strings.Cut(stack, "\n")
	return strings.Contains(head, "[coroutine")
}

// Computes tells whether a worker is in a thread, so that Stacks would show more than threads that wait. It is for
// diagnosis, and any goroutine or thread may call it. It does not block.
func (s *Scheduler) Computes() bool {
	if !s.begun.Load() {
		return false
	}
	for _, w := range s.workers {
		if w.inThread() {
			return true
		}
	}
	return false
}
