package fult

import (
	"sync/atomic"
	"testing"
	"time"
)

// deaf is a Poller that does not hear a Wake before it sleeps, as Poller allows. It does not sleep until it is armed.
type deaf struct {
	armed atomic.Bool
	enter func()        // called when Sleep begins, before anything is armed
	ready chan bool     // what the worker said of each Sleep
	leave chan struct{} // ends a Sleep
}

func (d *deaf) Poll(*Worker) int { return 0 }
func (d *deaf) Wake()            {}

func (d *deaf) Sleep(_ time.Duration, ready func() bool) bool {
	if !d.armed.Load() {
		return true
	}
	d.enter()
	select {
	case d.ready <- ready():
	case <-d.leave:
	}
	return true
}

// TestWakeBeforeSleep: a worker is woken just before it sleeps. It does not sleep, even if another worker has taken the
// work. Its state says awake, so nobody would wake it for the next thread.
func TestWakeBeforeSleep(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &deaf{ready: make(chan bool), leave: make(chan struct{})}
	p.enter = func() { s.workers[0].wakeWorker() } // as the caller of Go does whose thread another worker steals
	if err := s.SetPoller(p); err != nil {
		t.Fatal(err)
	}
	h, err := s.GoOn(0, func(*Thread) {})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Join(); err != nil {
		t.Fatal(err)
	}
	p.armed.Store(true)
	if !<-p.ready {
		t.Error("the worker slept although its state said that it was awake")
	}
	close(p.leave)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSleepOfAnybody: Sleep finds the calling thread, which leaves its worker to others, and serves a goroutine too.
func TestSleepOfAnybody(t *testing.T) {
	kinds(t, Config{}, func(t *testing.T, s *Scheduler) {
		var other atomic.Bool
		sleeper := spawn(t, s, func(*Thread) {
			for !other.Load() { // a worker that sleeps itself would never run the other thread
				Sleep(nil, time.Millisecond)
			}
		})
		join(t, spawn(t, s, func(*Thread) { other.Store(true) }), sleeper)
		Sleep(nil, time.Nanosecond)
		Sleep(nil, -1)
	})
}
