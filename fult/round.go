package fult

// Round tells when every thread that could run when it began has run until it gave up its worker or ended. It costs the threads
// nothing. Threads of the other kinds cannot be seen so: with them a Round is over from the start.
type Round struct {
	s        *Scheduler
	progress []uint64 // of each worker at the beginning
}

// Round begins a Round. It does not block.
func (s *Scheduler) Round() Round {
	r := Round{s, make([]uint64, len(s.workers))}
	for i, w := range s.workers {
		r.progress[i] = w.progress.Load()
	}
	return r
}

// passesPerRound is how far a worker must have come: the word that it was in, and one that it began after that.
const passesPerRound = 2

// Over says whether the Round is over. It does not block.
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
