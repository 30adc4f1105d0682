package realm

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/realm/internal/event"
)

// processors are those of this rank.
type processors struct {
	cpus []*processor
	util []*processor
	io   *ioProcessor

	mu     sync.Mutex               // guards changes of groups
	groups atomic.Pointer[[]*group] // by index
}

func (rt *Runtime) makeProcessors(cfg Config) error {
	if cfg.CPUs < 0 || cfg.CPUs > maxCPUs || cfg.IO < 0 {
		return rt.ev.CallErrorf("New", "%w: %d CPU processors, the most is %d; %d IO tasks", ErrArgument, cfg.CPUs, maxCPUs,
			cfg.IO)
	}
	workers := rt.sched.Workers()
	n := cfg.CPUs
	if n == 0 {
		n = workers
	}
	for i := range n {
		rt.procs.cpus = append(rt.procs.cpus, &processor{
			rt: rt, id: makeProcessor(rt.ev.Self, CPU, i),
			worker: i % workers,
		})
	}
	rt.utility = &processor{rt: rt, id: makeProcessor(rt.ev.Self, Utility, 0), worker: workers - 1}
	rt.procs.util = []*processor{rt.utility}
	if cfg.IO == 0 {
		cfg.IO = defaultIO
	}
	rt.procs.io = &ioProcessor{rt: rt, id: makeProcessor(rt.ev.Self, IO, 0), limit: cfg.IO}
	return nil
}

// executorOf is what runs tasks of p; nil if p is none of this rank.
func (rt *Runtime) executorOf(p Processor) executor {
	if !p.possible() || p.Rank() != rt.ev.Self {
		return nil
	}
	i := p.Index()
	switch p.Kind() {
	case CPU:
		if i < len(rt.procs.cpus) {
			return rt.procs.cpus[i]
		}
	case Utility:
		if i < len(rt.procs.util) {
			return rt.procs.util[i]
		}
	case IO:
		if i == 0 {
			return rt.procs.io
		}
	case Group:
		if g := rt.procs.groups.Load(); g != nil && i < len(*g) {
			return (*g)[i]
		}
	}
	return nil
}

// addGroup gives g a number.
func (ps *processors) addGroup(rank int, g *group) Processor {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	var all []*group
	if old := ps.groups.Load(); old != nil {
		all = slices.Clone(*old)
	}
	all = append(all, g)
	ps.groups.Store(&all)
	return makeProcessor(rank, Group, len(all)-1)
}

// eachRunning calls f for all processors that have runners.
func (ps *processors) eachRunning(f func(p *processor)) {
	for _, p := range ps.cpus {
		f(p)
	}
	for _, p := range ps.util {
		f(p)
	}
}

// CPU is the i-th CPU processor of this rank, counted round: from 0 on, and -1 is the last one.
func (rt *Runtime) CPU(i int) Processor {
	n := len(rt.procs.cpus)
	if i %= n; i < 0 {
		i += n
	}
	return makeProcessor(rt.ev.Self, CPU, i)
}

// Utility is the utility processor of this rank.
func (rt *Runtime) Utility() Processor { return rt.utility.id }

// IO is the IO processor of this rank.
func (rt *Runtime) IO() Processor { return rt.procs.io.id }

// runners knows the runner of each thread that is one.
type runners struct {
	mu sync.Mutex
	of map[*fult.Thread]*runner
}

// runnerOf is the runner whose thread t is, or nil.
func (rt *Runtime) runnerOf(t *fult.Thread) *runner {
	if t == nil {
		return nil
	}
	rt.runners.mu.Lock()
	defer rt.runners.mu.Unlock()
	return rt.runners.of[t]
}

func (rt *Runtime) addRunner(t *fult.Thread, r *runner) {
	rt.runners.mu.Lock()
	defer rt.runners.mu.Unlock()
	if rt.runners.of == nil {
		rt.runners.of = make(map[*fult.Thread]*runner)
	}
	rt.runners.of[t] = r
}

func (rt *Runtime) dropRunner(t *fult.Thread) {
	rt.runners.mu.Lock()
	defer rt.runners.mu.Unlock()
	delete(rt.runners.of, t)
}

// ProcessorOf is CPU processor 0 of a rank. For a number that no rank can have, it is 0, which names no processor.
func ProcessorOf(rank int) Processor {
	if rank < 0 || rank >= event.MaxRanks {
		return 0
	}
	return makeProcessor(rank, CPU, 0)
}
