package portals

import (
	"runtime"
	"time"

	"github.com/golci/golci/internal/futex"
	"github.com/golci/golci/internal/invariants"
)

// shortSleep bounds a sleep where the platform has no fence for all cores: a sender's look at the bell may then have run
// ahead of its publication, once.
const shortSleep = time.Millisecond

// strongPublish tells that arch.StoreRel64 is a full fence.
const strongPublish = invariants.Race || runtime.GOARCH != "amd64"

// sleep is where a rank waits: on a channel, which leaves the wake-up to Go's scheduler and holds no OS thread.
type sleep struct {
	rung  chan struct{} // a token stays for a sleeper that is not there yet
	timer *time.Timer   // used by the one sleeper
	fence bool
}

func newSleep(fence bool) sleep {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return sleep{rung: make(chan struct{}, 1), timer: t, fence: fence}
}

func (s *sleep) wait(d time.Duration) {
	s.timer.Reset(d)
	select {
	case <-s.rung:
	case <-s.timer.C:
	}
	s.timer.Stop()
}

// Sleep implements conduit.Conduit.
func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	if c.closed() || !c.asleep.CompareAndSwap(false, true) {
		return false
	}
	defer c.asleep.Store(false)
	bell := c.seg.bell
	bell.Store(1)
	// Publications are release stores and the sender's look at the bell may run ahead of them. The fence falls before or after
	// that look: the sender sees the bell, or this rank sees the record.
	if !(c.sleep.fence && futex.MembarrierPrivate()) && !strongPublish {
		d = min(d, shortSleep)
	}
	// The caller is asked in any case, and first: a pad makes Pending true, and Poll delivers nothing for it.
	if (ready != nil && ready()) || c.closed() || c.Pending() {
		bell.Store(0)
		return true
	}
	if d > 0 {
		c.sleep.wait(d)
	}
	bell.Store(0)
	return true
}

// announce is called by a sender after it has published a record for c.
func (c *Conduit) announce() {
	if c.seg.bell.Load() != 0 {
		c.ring()
	}
}

// Wake implements conduit.Conduit.
func (c *Conduit) Wake() { c.announce() }

func (c *Conduit) ring() {
	if !c.seg.bell.CompareAndSwap(1, 0) {
		return
	}
	select {
	case c.sleep.rung <- struct{}{}:
	default:
	}
}
