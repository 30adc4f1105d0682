package udp

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// sleep is where a rank waits: in the netpoller, through the socket.
type sleep struct {
	asleep atomic.Bool // somebody is in Sleep
	// role is the right to be in Wait: of the sleeper, or of background progress.
	role sync.Mutex

	armed atomic.Bool // another conduit's sleeper relies on the bell
	bell  func()      // set before traffic
}

// Bell implements conduit.Belled.
func (c *Conduit) Bell(f func()) { c.sleep.bell = f }

// Arm implements conduit.Belled.
func (c *Conduit) Arm() {
	c.sleep.armed.Store(true)
	c.background.nudge()
}

// Disarm implements conduit.Belled.
func (c *Conduit) Disarm() { c.sleep.armed.Store(false) }

// Sleep implements conduit.Conduit. It parks the goroutine, not its thread.
func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	s := &c.sleep
	if c.isClosed() || !s.asleep.CompareAndSwap(false, true) {
		return false
	}
	defer s.asleep.Store(false)
	if !s.role.TryLock() {
		c.wire.Wake() // background progress goes away when it sees who wants to sleep
		s.role.Lock()
	}
	defer s.role.Unlock()
	// The caller is asked in any case, and first: what Pending sees may be dropped by the next Poll.
	if (ready != nil && ready()) || c.isClosed() || c.Pending() || d <= 0 {
		return true
	}
	end := c.clock() + d
	least := time.Duration(0)
	for {
		until := min(end, max(time.Duration(c.due.Load()), least))
		if c.wire.Wait(c.base.Add(until)) != mmsg.Timeout || c.clock() >= end {
			return true
		}
		found, done := c.attend()
		if found {
			return true
		}
		if least = 0; !done { // somebody polls, and sees to it
			least = c.clock() + tick
		}
	}
}

// attend runs timers for a sleeper or background progress, and tells whether something waits to be delivered; done is
// false if somebody polls, who was left alone.
func (c *Conduit) attend() (found, done bool) {
	if !c.poll.lockBackground() {
		return false, false
	}
	c.passOnce(false)
	found = c.waiting()
	c.poll.Unlock()
	return found, true
}

// Wake implements conduit.Conduit.
func (c *Conduit) Wake() {
	if c.sleep.asleep.Load() {
		c.wire.Wake()
	}
}

// ring wakes whoever sleeps here or relies on the bell.
func (c *Conduit) ring() {
	c.Wake()
	if c.sleep.armed.Load() && c.sleep.bell != nil {
		c.sleep.bell()
	}
}
