package fult

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/spin"
)

// queue holds the jobs of a worker that have not started. Other workers may steal jobs of the list any.
type queue struct {
	n    atomic.Int32 // of both lists; written under mu, read without
	free atomic.Int32 // of the list that may be stolen
	mu   spin.Lock    // guards the lists
	any  list
	stay list
}

// list is first in, first out.
type list struct{ head, tail *job }

func (l *list) pushJob(j *job) {
	if l.head == nil {
		l.head = j
	} else {
		l.tail.next = j
	}
	l.tail = j
}

func (l *list) popJob() *job {
	j := l.head
	if j != nil {
		l.head, j.next = j.next, nil
	}
	return j
}

func (q *queue) pushJob(j *job, stay bool) {
	q.mu.Lock()
	if stay {
		q.stay.pushJob(j)
	} else {
		q.any.pushJob(j)
		q.free.Add(1)
	}
	q.n.Add(1)
	q.mu.Unlock()
}

// popJob takes a job for the worker itself.
func (q *queue) popJob() *job {
	q.mu.Lock()
	j := q.stay.popJob()
	if j == nil {
		if j = q.any.popJob(); j != nil {
			q.free.Add(-1)
		}
	}
	if j != nil {
		q.n.Add(-1)
	}
	q.mu.Unlock()
	return j
}

// stealJob takes a job for another worker.
func (q *queue) stealJob() *job {
	q.mu.Lock()
	j := q.any.popJob()
	if j != nil {
		q.free.Add(-1)
		q.n.Add(-1)
	}
	q.mu.Unlock()
	return j
}

// admitAtOnce and admitShare bound the jobs that one turn of the loop starts: admitAtOnce, or the live threads
// divided by admitShare if that is more. So many jobs do not delay threads, and many busy threads do not delay jobs.
const (
	admitAtOnce = 256
	admitShare  = 4
)

// admitJobs starts queued jobs.
func (w *Worker) admitJobs() bool {
	if w.queue.n.Load() == 0 || w.closing {
		return false
	}
	for range max(admitAtOnce, w.Live()/admitShare) {
		j := w.queue.popJob()
		if j == nil {
			break
		}
		w.startJob(j)
	}
	return true
}

const stealAtOnce = 32 // jobs taken from another worker at a time

// stealJobs takes queued jobs from other workers, together with their reservations.
func (w *Worker) stealJobs() (got bool) {
	all := w.s.workers
	for i := 1; i < len(all) && !got; i++ {
		v := all[(w.id+i)%len(all)]
		for range min(stealAtOnce, (v.queue.free.Load()+1)/2) {
			if !w.reserveThread() {
				break
			}
			j := v.queue.stealJob()
			if j == nil {
				w.reserved.Add(-1)
				break
			}
			v.reserved.Add(-1)
			w.startJob(j)
			got = true
		}
	}
	return got
}

// hasStealable tells whether another worker has a job that may be stolen.
func (w *Worker) hasStealable() bool {
	for _, v := range w.s.workers {
		if v != w && v.queue.free.Load() > 0 {
			return true
		}
	}
	return false
}

// dropQueue ends jobs that will never start.
func (w *Worker) dropQueue() {
	for j := w.queue.popJob(); j != nil; j = w.queue.popJob() {
		w.s.finished(j, w, ErrClosed)
	}
}
