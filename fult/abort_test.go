package fult

import (
	"errors"
	"sync/atomic"
	"testing"
)

// TestAbortLeavesPause: Abort ends a wait and leaves a pause to whoever wakes the thread. A pause may return without a
// signal, as Wait may.
func TestAbortLeavesPause(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		var waits, pauses atomic.Int32
		var woken atomic.Bool
		var paused atomic.Pointer[Thread]
		waiter := spawn(t, s, func(th *Thread) {
			waits.Add(1)
			for {
				th.Wait()
			}
		})
		pauser := spawn(t, s, func(th *Thread) {
			paused.Store(th)
			pauses.Add(1)
			for !woken.Load() {
				th.Pause()
			}
		})
		for waits.Load()+pauses.Load() < 2 {
		}
		s.Abort()
		s.Abort()
		if err := waiter.Join(); !errors.Is(err, ErrClosed) {
			t.Errorf("the waiting thread: %v", err)
		}
		if pauser.Done() {
			t.Error("Abort has ended a pause")
		}
		woken.Store(true)
		paused.Load().Signal()
		join(t, pauser)
	})
}

// TestAbortGivesNobodyTheLock: of many threads that wait for a mutex, which one holds that waits as well, none goes on
// as if it had the lock. The queue is empty afterwards.
func TestAbortGivesNobodyTheLock(t *testing.T) {
	kinds(t, Config{Workers: 2}, func(t *testing.T, s *Scheduler) {
		const n = 100
		var m Mutex
		var in, out, held atomic.Int32
		m.Lock(nil)
		var hs []Handle
		for range n {
			hs = append(hs, spawn(t, s, func(th *Thread) {
				defer out.Add(1)
				in.Add(1)
				m.Lock(th)
				held.Add(1)
			}))
		}
		for in.Load() < n {
		}
		s.Abort()
		for _, h := range hs {
			if err := h.Join(); !errors.Is(err, ErrClosed) {
				t.Errorf("Join: %v", err)
			}
		}
		if held.Load() != 0 || out.Load() != n {
			t.Errorf("%d had the lock, %d unwound", held.Load(), out.Load())
		}
		if err := m.Unlock(nil); err != nil || !m.TryLock() {
			t.Errorf("the lock was passed on: %v", err)
		}
	})
}

// TestThreadsAfterAbort: a thread that is started after Abort runs to its first wait.
func TestThreadsAfterAbort(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		s.Abort()
		var m Mutex
		m.Lock(nil)
		ran := make(chan bool, 1)
		h := spawn(t, s, func(th *Thread) {
			ran <- true
			m.Lock(th)
			ran <- false
		})
		if err := h.Join(); !errors.Is(err, ErrClosed) || !<-ran {
			t.Errorf("Join: %v", err)
		}
	})
}
