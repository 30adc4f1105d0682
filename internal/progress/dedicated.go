package progress

import (
	"runtime"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/affinity"
	"github.com/golci/golci/internal/platform/arch"
)

// Server is a dedicated communication server: a goroutine that polls for an Engine on an OS thread of its own.
type Server struct {
	quit atomic.Bool
	gone chan struct{}
	eng  *Engine
}

// Dedicate starts a goroutine that polls e, on an OS thread of its own. If cpu is not negative it tries to bind the
// thread to that processor. e must be in the mode Dedicated.
func (e *Engine) Dedicate(cpu int) *Server {
	s := &Server{gone: make(chan struct{}), eng: e}
	go func() {
		defer close(s.gone)
		// Never unlocked: the thread ends with the goroutine, and its affinity with it.
		runtime.LockOSThread()
		if cpu >= 0 {
			_ = affinity.Set(cpu) // a server that may not be bound still serves
		}
		e.Serve(s.quit.Load)
	}()
	return s
}

// Stop ends the server and waits until it has gone. It may be called again; a nil Server needs nothing.
func (s *Server) Stop() {
	if s == nil {
		return
	}
	s.quit.Store(true)
	s.eng.Wake()
	<-s.gone
}

// Serve polls, and sleeps when there is nothing, until quit says so; Wake makes it look. It is the dedicated
// communication server: one goroutine calls it, if Config.Dedicated is set.
func (e *Engine) Serve(quit func() bool) {
	for s := newSpinner(e); !quit(); {
		if s.isOver(e.src.Poll(nil)) {
			e.src.Sleep(sleepLimit, quit)
			if e.crowded {
				e.share() // what is stalled ends the sleep at once, and waits for others on this core
			}
		}
	}
}

// behindServer watches for the spinning time whether the wait is over, and then parks. The dedicated server polls.
func (e *Engine) behindServer(x *want, s *spinner) {
	for !x.isOver() && !s.isOver(0) {
		arch.Pause()
	}
	x.g.drainSignals()
	if x.watchPending() && !x.isOver() {
		x.g.parkFor(0)
	}
}
