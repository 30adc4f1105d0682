package progress

import (
	"sync/atomic"

	"github.com/golci/golci/internal/platform/arch"
)

// A call that has nothing to wait for ends without a poll. A program may make nothing but such calls, and other ranks
// wait for what it is to carry out. So one in some of them polls.

// turnEvery is how many calls without a poll there are to one with a poll.
const turnEvery = 16

// turns counts such calls. They write it often, so it shares no cache line with what waiters read.
type turns struct {
	_ [64]byte
	n atomic.Uint32
	_ [60]byte
}

// PollInTurn is Poll at one call in sixteen. Whoever ends at once, without a poll, calls it. Two callers at once may
// count as one. The count takes each value all the same, so one of them polls when the turn has come.
func (e *Engine) PollInTurn() {
	n := e.turns.n.Load() + 1
	arch.StoreRel32(&e.turns.n, n)
	if n%turnEvery == 0 && !e.dedicated {
		e.Poll()
	}
}
