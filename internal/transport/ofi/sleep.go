//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// A rank waits in poll(2), which is level-triggered: Go's own poller is not, and loses wake-ups of the library's
// descriptor. It blocks its thread.

const (
	firstLook   = 50 * time.Microsecond  // of a sleeper whose provider has no descriptor to wait for
	lastLook    = time.Millisecond       // the same, later in the same sleep, or with messages that wait for room
	timedLook   = 50 * time.Millisecond  // where there is a time limit to heed
	suspectLook = 5 * time.Millisecond   // with a peer that may be dead
	keepLook    = 500 * time.Millisecond // where the library's descriptor or a sleeper tells of news
	busyLook    = 16 * time.Millisecond  // the same, while somebody polls or there is no descriptor
	calmLooks   = 16                     // so many looks without operations, and background progress takes its time again
)

// sleepState is where a rank sleeps.
type sleepState struct {
	asleep atomic.Bool // somebody is in Sleep
	armed  atomic.Bool // another conduit's sleeper relies on the bell
	bell   func()      // set before traffic
	bells  *bells
	wait   int // descriptor of the library, -1 if it has none
}

func (n *sleepState) openNap(wait int) error {
	n.wait = wait
	a, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return err
	}
	b, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(a)
		return err
	}
	n.bells = &bells{a, b}
	return nil
}

// Sleep implements conduit.Conduit. It blocks the thread.
func (c *Conduit) Sleep(d time.Duration, ready func() bool) bool {
	n := &c.sleep
	if c.closed.Load() || !n.asleep.CompareAndSwap(false, true) {
		return false
	}
	defer n.asleep.Store(false)
	if (ready != nil && ready()) || c.closed.Load() || d <= 0 {
		return true
	}
	for end, look := time.Now().Add(d), firstLook; ; look = min(2*look, lastLook) {
		found, quiet, limit := c.beforeWait(look)
		if found || c.closed.Load() {
			return true
		}
		left := time.Until(end)
		if left <= 0 {
			return true
		}
		if quiet && waitFor(n.bells.sleeper, n.wait, min(limit, left)) {
			return true
		}
	}
}

// beforeWait makes a pass and says whether there is something to deliver, whether the descriptor may be waited for, and
// how long at most.
func (c *Conduit) beforeWait(look time.Duration) (found, quiet bool, limit time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found = c.makeProgress(batch); c.down {
		return false, true, lastLook
	}
	limit = time.Hour
	switch {
	case c.sleep.wait < 0:
		limit = look
	case len(c.busy) > 0:
		limit = lastLook
	case len(c.suspects) > 0:
		limit = suspectLook
	case len(c.connecting) > 0 || c.overdueOps():
		limit = timedLook
	}
	return found, c.sleep.wait < 0 || c.ep.TryWait(), limit
}

// waitFor waits until the event or the library's descriptor is readable, if it has one, or d has passed. It reports
// whether there was an event, and takes that.
func waitFor(event, library int, d time.Duration) bool {
	fds := [2]unix.PollFd{{Fd: int32(event), Events: unix.POLLIN}, {Fd: int32(library), Events: unix.POLLIN}}
	t := unix.NsecToTimespec(max(0, d.Nanoseconds()))
	if _, err := unix.Ppoll(fds[:], &t, nil); err != nil || fds[0].Revents == 0 { // poll(2) leaves out a descriptor of -1
		return false
	}
	var b [8]byte
	_, _ = unix.Read(event, b[:]) // somebody else may have taken it
	return true
}

func signal(event int) {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], 1)
	_, _ = unix.Write(event, b[:]) // it fails if there are 2^64 of them already
}

// Wake implements conduit.Conduit.
func (c *Conduit) Wake() {
	if c.sleep.asleep.Load() {
		signal(c.sleep.bells.sleeper)
	}
}

// alertSleeper tells a sleeper, here or in another conduit, that there is something to poll. Without mu.
func (c *Conduit) alertSleeper(found bool) {
	if !found {
		return
	}
	c.Wake()
	if n := &c.sleep; n.armed.Load() && n.armed.CompareAndSwap(true, false) {
		n.bell()
	}
}

// Bell implements conduit.Belled.
func (c *Conduit) Bell(f func()) { c.sleep.bell = f }

// Arm implements conduit.Belled.
func (c *Conduit) Arm() {
	if c.sleep.bell == nil || c.closed.Load() {
		return
	}
	c.sleep.armed.Store(true)
	c.sleep.stir()
}

// Disarm implements conduit.Belled.
func (c *Conduit) Disarm() { c.sleep.armed.Store(false) }

// stir makes background progress look.
func (n *sleepState) stir() { signal(n.bells.background) }

// background listens for the bell, and serves peers while this rank neither polls nor sleeps: one that connects, that
// asks for a sign of life, or that waits for the rest of a message. It has a goroutine, and a thread, of its own. The
// fields are its own, but for attends.
type background struct {
	polls     uint64 // Conduit.polls at the last look
	alone     bool   // nobody had polled or slept then
	idleLooks int    // looks in a row with nothing under way
	busy      bool   // something is under way, so it looks often; under Conduit.mu
}

// keepRunning goes on until Close.
func (c *Conduit) keepRunning() {
	n := &c.sleep
	look, next := keepLook, time.Now().Add(c.keepTick())
	for !c.closed.Load() {
		left := time.Until(next)
		switch {
		case left <= 0:
			next = time.Now().Add(c.keepTick())
			if c.onTick() {
				c.Wake() // the sleeper heeds the time
			}
		case n.armed.Load():
			c.listenFor(left)
			look = lastLook
		case c.restFor(min(look, left)):
			look = lastLook
		default:
			look = c.servePass(look)
		}
	}
}

// restFor waits, for d at most. It reports whether background progress was stirred. While nobody else would see it,
// what comes ends the rest, too.
func (c *Conduit) restFor(d time.Duration) bool {
	library := -1
	if c.background.alone && c.sleep.wait >= 0 {
		c.mu.Lock()
		calm := !c.down && c.ep.TryWait()
		c.mu.Unlock()
		if !calm {
			return false
		}
		library = c.sleep.wait
	}
	return waitFor(c.sleep.bells.background, library, d)
}

// keepTick is how often background progress looks for silent peers.
func (c *Conduit) keepTick() time.Duration { return min(keepLook, c.quietTime()) }

// servePass makes a pass if nobody else has made one since the last look. It returns when to look again.
func (c *Conduit) servePass(look time.Duration) time.Duration {
	k := &c.background
	polls, asleep := c.polls.Load(), c.sleep.asleep.Load()
	k.alone = polls == k.polls && !asleep
	k.polls = polls
	c.mu.Lock()
	defer c.mu.Unlock()
	if k.alone {
		c.makeProgress(4 * batch)
	}
	if k.idleLooks++; c.underWay() {
		k.idleLooks = 0
	}
	k.busy = k.busy && k.idleLooks <= calmLooks
	switch {
	case k.alone && k.busy:
		return lastLook
	case asleep, k.alone && c.sleep.wait >= 0:
		return keepLook
	}
	return min(2*look, busyLook)
}

// underWay tells whether the library has something that may need this rank. Under mu.
func (c *Conduit) underWay() bool { return c.sends+len(c.flying)+len(c.busy) > 0 }

// attendOften makes background progress look often, where something is under way. Under mu.
func (c *Conduit) attendOften() {
	if !c.background.busy && c.underWay() {
		c.background.busy = true
		c.sleep.stir()
	}
}

// listenFor waits until something has come, and rings, or until it is stirred, for d at most.
func (c *Conduit) listenFor(d time.Duration) {
	n := &c.sleep
	end := time.Now().Add(d)
	for look := firstLook; n.armed.Load() && !c.closed.Load(); look = min(2*look, lastLook) {
		found, quiet, limit := c.beforeWait(look)
		if found {
			c.alertSleeper(true)
			return
		}
		left := time.Until(end)
		if left <= 0 || quiet && waitFor(n.bells.background, n.wait, min(limit, left)) {
			return
		}
	}
}
