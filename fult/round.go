package fult

// Round covers all threads that are runnable at its beginning. It is over when each of them has ended or given up its
// worker. It costs the threads nothing. It works for coroutine threads only. With other kinds it is over at once.
type Round struct {
	s        *Scheduler
	progress []uint64 // of each worker at the beginning
}

// Round begins a Round. It does not block or switch threads.
func (s *Scheduler) Round() Round {
	r := Round{s, make([]uint64, len(s.workers))}
	for i, w := range s.workers {
		r.progress[i] = w.progress.Load()
	}
	return r
}

const passesPerRound = 2 // steps of a worker: the word at the beginning, and the next one

// Over tells whether the Round is over. It does not block or switch threads.
func (r Round) Over() bool {
	if r.s.cfg.Kind != Fult || !r.s.begun.Load() {
		return true
	}
	for i, w := range r.s.workers {
		// A worker without a job that sleeps has nothing to run.
		if w.queue.n.Load() != 0 || w.parked.Load() == awake && w.progress.Load()-r.progress[i] < passesPerRound {
			return false
		}
	}
	return true
}
