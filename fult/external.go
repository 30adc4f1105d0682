package fult

import (
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// external is a Thread that is a goroutine, locked to an OS thread or not.
type external struct {
	s *Scheduler
	Waiter
}

// externals holds the threads of a worker that are goroutines. Descriptors are reused, as Thread.Local needs.
type externals struct {
	mu   sync.Mutex
	all  []*Thread
	free []*Thread
}

func (e *external) signalCaller() { e.Signal() }

func (e *external) parkCaller() (killed bool) {
	if e.s.aborted.Load() {
		return true
	}
	e.Wait()
	return e.s.aborted.Load()
}

// waitOrExit waits until a signal or Close. If yield is set, it only lets other goroutines run.
func (e *external) waitOrExit(yield bool) {
	switch {
	case yield:
		runtime.Gosched()
	case !e.s.killing.Load():
		e.Wait()
	}
	if e.s.killing.Load() {
		runtime.Goexit()
	}
}

func (e *external) sleepFor(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-e.s.stop:
		runtime.Goexit()
	}
}

// startExternal runs j on a goroutine.
func (s *Scheduler) startExternal(w *Worker, j *job) {
	t := w.exts.getThread(w)
	t.job = j
	s.running.Add(1)
	go t.runExternal()
}

func (e *externals) getThread(w *Worker) *Thread {
	e.mu.Lock()
	defer e.mu.Unlock()
	if last := len(e.free) - 1; last >= 0 {
		t := e.free[last]
		e.free = e.free[:last]
		return t
	}
	t := &Thread{w: w, slot: uint32(len(e.all)), ext: &external{s: w.s, Waiter: NewGoroutine()}}
	if w.s.cfg.Kind == OSThreads {
		t.ext.Waiter = newOSThread()
	}
	e.all = append(e.all, t)
	return t
}

func (e *externals) putThread(t *Thread) {
	e.mu.Lock()
	e.free = append(e.free, t)
	e.mu.Unlock()
}

func (t *Thread) runExternal() {
	s := t.w.s
	defer s.running.Done()
	if t.w.s.cfg.Kind == OSThreads {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
	}
	g := arch.G()
	s.byG.Store(g, t)
	returned := false
	defer func() {
		var err error
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack(), ID: t.ID()}
		} else if !returned {
			err = s.endOfThread()
		}
		s.byG.Delete(g)
		t.endExternal(err)
	}()
	t.alive.Store(1)
	t.job.f(t)
	returned = true
}

func (t *Thread) endExternal(err error) {
	j, w := t.job, t.w
	t.job = nil
	t.alive.Store(0)
	t.clearLabel()
	w.exts.putThread(t)
	w.s.finished(j, w, err)
}

// killExternals wakes every thread that is a goroutine. The thread then unwinds.
func (s *Scheduler) killExternals() {
	for _, w := range s.workers {
		w.exts.mu.Lock()
		for _, t := range w.exts.all {
			t.ext.Signal()
		}
		w.exts.mu.Unlock()
	}
}

func (s *Scheduler) currentExternal() *Thread {
	t, _ := s.byG.Load(arch.G())
	return t
}
