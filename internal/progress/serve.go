package progress

import "github.com/golci/golci/internal/arch"

// Serve polls, and sleeps when there is nothing, until quit says so; Wake makes it look. It is the dedicated
// communication server: one goroutine calls it, if Config.Dedicated is set.
func (e *Engine) Serve(quit func() bool) {
	for s := newSpinner(e); !quit(); {
		if s.over(e.src.Poll(nil)) {
			e.src.Sleep(sleepLimit, quit)
		}
	}
}

// behindServer watches for the spinning time, without polling, whether the wait is over, and then parks until the
// dedicated server completes what is waited for.
func (e *Engine) behindServer(x *want, s *spinner) {
	for !x.over() && !s.over(0) {
		arch.Pause()
	}
	x.g.drain()
	if x.watch() && !x.over() {
		x.g.park(0)
	}
}
