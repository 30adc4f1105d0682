package fult

import (
	"slices"
	"sync"
	"sync/atomic"
)

// running is the schedulers whose workers run: a call that is not told its thread looks there. Goroutines belong to the process,
// so this does, too.
var running registry

type registry struct {
	mu  sync.Mutex // taken by writers
	all atomic.Pointer[[]*Scheduler]
}

func (r *registry) change(f func(all []*Scheduler) []*Scheduler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Scheduler
	if old := r.all.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = f(all)
	r.all.Store(&all)
}

func (r *registry) add(s *Scheduler) {
	r.change(func(all []*Scheduler) []*Scheduler { return append(all, s) })
}

func (r *registry) remove(s *Scheduler) {
	r.change(func(all []*Scheduler) []*Scheduler {
		return slices.DeleteFunc(all, func(x *Scheduler) bool { return x == s })
	})
}

// Current returns the thread that runs the caller, of whichever scheduler, or nil if the caller is something else. Where the
// scheduler is at hand, its own Current is quicker: this one asks every scheduler of the process. It does not block.
func Current() *Thread {
	all := running.all.Load()
	if all == nil {
		return nil
	}
	for _, s := range *all {
		if t := s.Current(); t != nil {
			return t
		}
	}
	return nil
}

// orCurrent is t, or the thread that runs the caller if that is nil; nil on a plain goroutine.
func orCurrent(t *Thread) *Thread {
	if t == nil {
		return Current()
	}
	return t
}
