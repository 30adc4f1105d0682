package fult

import (
	"slices"
	"sync"
	"sync/atomic"
)

// running lists the schedulers whose workers run. Calls find their thread there. It belongs to the process.
var running registry

type registry struct {
	mu  sync.Mutex // taken by writers
	all atomic.Pointer[[]*Scheduler]
}

func (r *registry) changeList(f func(all []*Scheduler) []*Scheduler) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []*Scheduler
	if old := r.all.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = f(all)
	r.all.Store(&all)
}

func (r *registry) addScheduler(s *Scheduler) {
	r.changeList(func(all []*Scheduler) []*Scheduler { return append(all, s) })
}

func (r *registry) removeScheduler(s *Scheduler) {
	r.changeList(func(all []*Scheduler) []*Scheduler {
		return slices.DeleteFunc(all, func(x *Scheduler) bool { return x == s })
	})
}

// Current returns the calling thread, of any scheduler of the process, or nil on a plain goroutine. It asks each
// scheduler in turn, so Scheduler.Current is faster. It does not block or switch threads.
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

// orCurrent returns t. If t is nil, it returns the calling thread, or nil on a plain goroutine.
func orCurrent(t *Thread) *Thread {
	if t == nil {
		return Current()
	}
	return t
}
