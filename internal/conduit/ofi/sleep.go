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
	firstLook = 50 * time.Microsecond  // of a sleeper whose provider has no descriptor to wait for
	lastLook  = time.Millisecond       // the same, later in the same sleep, or with messages that wait for room
	timedLook = 50 * time.Millisecond  // where there is a time limit to heed
	keepLook  = 500 * time.Millisecond // of the keeper, for peers that call while nobody polls
)

// nap is where a rank sleeps.
type nap struct {
	asleep atomic.Bool // somebody is in Sleep
	armed  atomic.Bool // another conduit's sleeper relies on the bell
	bell   func()      // set before traffic
	bells  *bells
	wait   int // descriptor of the library, -1 if it has none
}

func (n *nap) open(wait int) error {
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
	n := &c.nap
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
	if found = c.progress(batch); c.down {
		return false, true, lastLook
	}
	limit = time.Hour
	switch {
	case c.nap.wait < 0:
		limit = look
	case len(c.busy) > 0:
		limit = lastLook
	case len(c.connecting)+len(c.suspects) > 0 || c.overdueOps():
		limit = timedLook
	}
	return found, c.nap.wait < 0 || c.ep.TryWait(), limit
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
	if c.nap.asleep.Load() {
		signal(c.nap.bells.sleeper)
	}
}

// alert tells who sleeps, here or in another conduit, that there is something to poll. Without mu.
func (c *Conduit) alert(found bool) {
	if !found {
		return
	}
	c.Wake()
	if n := &c.nap; n.armed.Load() && n.armed.CompareAndSwap(true, false) {
		n.bell()
	}
}

// Bell implements conduit.Belled.
func (c *Conduit) Bell(f func()) { c.nap.bell = f }

// Arm implements conduit.Belled.
func (c *Conduit) Arm() {
	if c.nap.bell == nil || c.closed.Load() {
		return
	}
	c.nap.armed.Store(true)
	c.nap.stir()
}

// Disarm implements conduit.Belled.
func (c *Conduit) Disarm() { c.nap.armed.Store(false) }

// stir has the keeper look.
func (n *nap) stir() { signal(n.bells.keeper) }

// keeper listens for the bell, and serves peers while this rank neither polls nor sleeps: one that connects, or that
// asks for a sign of life. It has a goroutine, and a thread, of its own.
type keeper struct {
	polls uint64 // Conduit.polls at the last look
}

// keep goes on after Close until the peers have heard of that.
func (c *Conduit) keep() {
	n := &c.nap
	for !c.closed.Load() {
		if n.armed.Load() {
			c.listen()
			continue
		}
		if waitFor(n.bells.keeper, -1, keepLook) {
			continue
		}
		polls := c.polls.Load()
		if polls == c.keeper.polls && !n.asleep.Load() {
			c.mu.Lock()
			c.progress(4 * batch)
			c.mu.Unlock()
		}
		c.keeper.polls = polls
	}
}

// listen waits until something has come, and rings, or until it is stirred.
func (c *Conduit) listen() {
	n := &c.nap
	for look := firstLook; n.armed.Load() && !c.closed.Load(); look = min(2*look, lastLook) {
		found, quiet, limit := c.beforeWait(look)
		if found {
			c.alert(true)
			return
		}
		if quiet && waitFor(n.bells.keeper, n.wait, limit) {
			return
		}
	}
}
