package fult

// A worker keeps the descriptors of ended threads in two lists. A warm one still has its coroutine.

const maxWarm = 2048 // coroutines kept, at about 3 KB each

// keepWarm puts t, whose job has ended, on the warm list. False: the coroutine must end; t is on the cold list.
func (w *Worker) keepWarm(t *Thread) bool {
	if w.closing || w.nwarm >= maxWarm {
		w.discardThread(t)
		return false
	}
	t.free, w.warm = w.warm, t
	w.nwarm++
	return true
}

// discardThread puts t, whose coroutine ends, on the cold list. The runtime resumes the goroutine in its place without
// it.
func (w *Worker) discardThread(t *Thread) {
	t.coroutine = coroutine{}
	t.free, w.cold = w.cold, t
}

// newThread returns a descriptor for a new thread. The caller's reservation guarantees one.
func (w *Worker) newThread() *Thread {
	if t := w.warm; t != nil {
		w.warm, t.free = t.free, nil
		w.nwarm--
		return t
	}
	t := w.cold
	if t != nil {
		w.cold, t.free = t.free, nil
	} else {
		t = w.freshSlot()
	}
	w.pullCoroutine(&t.fiber, &t.coroutine, t.main)
	return t
}

// freshSlot opens the next slot that was never used.
func (w *Worker) freshSlot() *Thread {
	n := w.slots
	w.slots++
	g := w.groups[n/groupSize].Load()
	if g == nil {
		g = new(group)
		w.groups[n/groupSize].Store(g)
	}
	t := &g.threads[n%groupSize]
	t.w, t.grp, t.slot = w, g, uint32(n)
	if p := w.s.preparer; p != nil {
		p.Prepare(t)
	}
	return t
}

// startJob gives j to a thread and makes it runnable.
func (w *Worker) startJob(j *job) {
	t := w.newThread()
	t.job = j
	t.alive.Store(1)
	t.raisePrivate()
}
