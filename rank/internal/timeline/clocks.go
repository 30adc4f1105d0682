package timeline

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/internal/observe/trace"
)

// Ranks with a timeline on another machine than rank 0 ask it for its clock, in rounds. Of a round the quickest answer
// counts (Cristian's algorithm): rank 0's clock was read in the middle of it, but for half of the time that it took.
const (
	clockAsk      = 192 // handler indices
	clockTold     = 193
	clockAnswers  = 8           // of a round
	clockInterval = time.Second // between rounds
)

// clocks is how a rank follows the clock of rank 0.
type clocks struct {
	ep    *am.Endpoint
	rec   *trace.Recorder
	round atomic.Bool // under way
	stop  chan struct{}
	ended sync.WaitGroup

	// Of the poller.
	left                 int // answers until the round is over
	mine, theirs, within int64
}

// layer has both sides' handlers.
func (c *clocks) layer() am.Layer {
	return am.Layer{Name: "timeline", First: clockAsk, Handlers: []am.Spec{
		{Name: "ask clock", MaxReply: am.NoReply, Run: c.onAsk},
		{Name: "tell clock", MaxReply: am.NoReply, Run: c.onTold},
	}}
}

// followClock begins rounds, until close.
func (c *clocks) followClock() {
	c.askClock()
	c.ended.Go(func() {
		t := time.NewTicker(clockInterval)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				c.askClock()
			case <-c.stop:
				return
			}
		}
	})
}

// closeClocks ends what followClock has begun, if it has. It is called once, and does not wait: the caller may hold
// locks.
func (c *clocks) closeClocks() { close(c.stop) }

// askClock begins a round, unless one is under way: rank 0 may be busy.
func (c *clocks) askClock() {
	if c.round.CompareAndSwap(false, true) {
		c.postRound()
	}
}

func (c *clocks) postRound() { c.ep.Post(0, clockAsk, nil, uint64(trace.MachineTime())) }

// onAsk: another rank wants to know the time.
func (c *clocks) onAsk(t *am.Token, args []uint64, _ []byte) {
	if len(args) == 1 {
		c.ep.Post(t.Source(), clockTold, nil, args[0], uint64(trace.MachineTime()))
	}
}

// onTold: rank 0 has told the time.
func (c *clocks) onTold(_ *am.Token, args []uint64, _ []byte) {
	if len(args) != 2 || !c.round.Load() {
		return
	}
	asked, now := int64(args[0]), trace.MachineTime()
	if c.left == 0 {
		c.left, c.within = clockAnswers, now-asked+1
	}
	if took := now - asked; took < c.within {
		c.mine, c.theirs, c.within = asked+took/2, int64(args[1]), took
	}
	if c.left--; c.left > 0 {
		c.postRound()
		return
	}
	c.rec.Sync(c.mine, c.theirs, c.within)
	c.round.Store(false)
}
