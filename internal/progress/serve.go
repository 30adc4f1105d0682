package progress

import (
	"time"

	"github.com/golci/golci/internal/arch"
)

// Serve polls, and sleeps when there is nothing, until quit says so; Wake makes it look. It is the dedicated
// communication server: one goroutine calls it, if Config.Dedicated is set.
func (e *Engine) Serve(quit func() bool) {
	for !quit() {
		if e.serveAWhile(quit) {
			continue
		}
		e.src.Sleep(sleepLimit, quit)
	}
}

// serveAWhile polls until it has found nothing for the spinning time; then it returns false.
func (e *Engine) serveAWhile(quit func() bool) bool {
	var start time.Time
	for n := 1; !quit(); n++ {
		if e.src.Poll(nil) > 0 {
			n, start = 0, time.Time{}
			continue
		}
		if n%clockEvery == 0 || e.spin == 0 {
			if e.spinOver(&start) {
				return false
			}
		}
	}
	return true
}

// lookAWhile watches, without polling, whether the wait is over.
func (e *Engine) lookAWhile(x *want) {
	var start time.Time
	for n := 1; !x.over(); n++ {
		if n%clockEvery == 0 || e.spin == 0 {
			if e.spinOver(&start) {
				return
			}
		}
		arch.Pause()
	}
}

// behindServer parks until the dedicated server completes what is waited for.
func (e *Engine) behindServer(x *want) {
	x.g.drain()
	if x.watch() && !x.over() {
		x.g.park(0)
	}
}
