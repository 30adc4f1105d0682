package local

import (
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
)

// permits is one pair of threads of a fult.Scheduler that hand over by Signal and Wait. turn makes the waits proof
// against returns without cause: the thread whose turn it is not waits.
type permits struct {
	turn    atomic.Uint32 // 1: b's; each side stores only when it has the turn
	a, b    *fult.Thread  // set before start is closed
	started sideBySide
}

// sideBySide holds the threads back until all are there.
type sideBySide struct {
	missing *atomic.Int64 // threads that have not begun
	ready   chan<- struct{}
	open    *atomic.Bool // set by the caller before it signals every thread
}

func (s sideBySide) enter(t *fult.Thread) {
	if s.missing.Add(-1) == 0 {
		s.ready <- struct{}{}
	}
	for !s.open.Load() {
		t.Wait()
	}
}

func (p *permits) ping(t *fult.Thread, rounds int) {
	p.started.enter(t)
	w := t.Worker()
	for range rounds {
		arch.StoreRel32(&p.turn, 1)
		w.Signal(p.b)
		for p.turn.Load() != 0 {
			t.Wait()
		}
	}
}

func (p *permits) pong(t *fult.Thread, rounds int) {
	p.started.enter(t)
	w := t.Worker()
	for range rounds {
		for p.turn.Load() != 1 {
			t.Wait()
		}
		arch.StoreRel32(&p.turn, 0)
		w.Signal(p.a)
	}
}

// threadPairs runs pairs as threads of kind on one worker, and on one P where the Go runtime schedules them.
func threadPairs(kind fult.Kind) func(pairs, rounds int) (time.Duration, error) {
	return func(pairs, rounds int) (time.Duration, error) { return fultPairs(kind, pairs, rounds) }
}

func fultPairs(kind fult.Kind, pairs, rounds int) (took time.Duration, err error) {
	if kind != fult.Fult {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	s, err := fult.New(fult.Config{Kind: kind})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	var missing atomic.Int64
	var open atomic.Bool
	missing.Store(int64(2 * pairs))
	ready := make(chan struct{}, 1)
	all := make([]permits, pairs)
	handles := make([]fult.Handle, 0, 2*pairs)
	for i := range all {
		p := &all[i]
		p.started = sideBySide{&missing, ready, &open}
		for _, body := range []func(*fult.Thread){
			func(t *fult.Thread) { p.a = t; p.ping(t, rounds) },
			func(t *fult.Thread) { p.b = t; p.pong(t, rounds) },
		} {
			h, err := s.GoOn(0, body)
			if err != nil {
				return 0, err
			}
			handles = append(handles, h)
		}
	}
	<-ready
	start := time.Now()
	open.Store(true)
	for i := range all {
		all[i].a.Signal()
		all[i].b.Signal()
	}
	for _, h := range handles {
		err = errors.Join(err, h.Join())
	}
	return time.Since(start), err
}
