package udp

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/transport/udp/mmsg"
)

// background is the goroutine that looks after the conduit while nobody polls. While somebody does, it looks up now and
// then only; while nobody does, it parks in the netpoller.
type background struct {
	c     *Conduit
	kick  chan struct{} // a token has it look up at once
	timer *time.Timer
	seen  uint64 // of Conduit.polls

	flushed   chan struct{} // closed when Close need not wait longer
	listening atomic.Bool   // background progress is about to wait, or waits, for a datagram
	until     atomic.Int64  // when background progress looks up at the latest, or 0 while it is about
}

const (
	// tick is how often background progress looks whether somebody still polls; it also bounds how long a record may be
	// kept back for company if its sender does not poll.
	tick = time.Millisecond
	// lazyTick is the same while somebody sleeps in the conduit, who has the timers in mind.
	lazyTick = 250 * time.Millisecond
	// late is how long background progress leaves a timer to the sleeper before it sees to it.
	late = 5 * time.Millisecond
	// closingTick is how often background progress looks whether it can end.
	closingTick = 5 * time.Millisecond
)

func (k *background) startBackground(c *Conduit) {
	k.c = c
	k.kick = make(chan struct{}, 1)
	k.timer = time.NewTimer(time.Hour)
	k.flushed = make(chan struct{})
	go k.runBackground()
}

// nudge makes background progress look up, wherever it waits.
func (k *background) nudge() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
	if k.listening.Load() {
		k.c.wire.Wake()
	}
}

// expectAt makes background progress look up at the time at, if it means to much later. A timer has been set, or
// something is kept back, and the caller may not poll again.
func (k *background) expectAt(at time.Duration) {
	if time.Duration(k.until.Load())-at > 2*tick {
		k.nudge()
	}
}

func (k *background) runBackground() {
	defer k.timer.Stop()
	c := k.c
	for !c.isClosed() {
		switch asleep, polls := c.sleep.asleep.Load(), c.polls.Load(); {
		case asleep:
			k.nap(lazyTick)
			k.onTime()
		case polls != k.seen && !c.sleep.armed.Load():
			// A rank that polls sees to timers, and to what was kept back. This thread may be on the same core, and
			// may lose it with the lock in hand: to do that work here would cost the rank more.
			if k.nap(tick) {
				k.seen = polls // that was a whole nap ago
			}
		default:
			k.listenOnce()
		}
	}
	k.linger()
}

// nap waits for a kick, or d at most. It returns true if all of d has passed.
func (k *background) nap(d time.Duration) bool {
	now := k.c.clock()
	k.until.Store(int64(now + d)) // before the timers are looked at: who sets one later finds it
	defer k.until.Store(0)
	if due := time.Duration(k.c.due.Load()) - now; due < d && d == lazyTick {
		d = max(due+late, tick)
	}
	k.timer.Reset(d)
	defer k.timer.Stop()
	select {
	case <-k.kick:
		return false
	case <-k.timer.C:
		return true
	}
}

// onTime sees to timers, and to what was kept back, while somebody sleeps who does not know of them.
func (k *background) onTime() {
	c := k.c
	if c.held.Load() || time.Duration(c.due.Load())+tick < c.clock() {
		if found, _ := c.attend(); found {
			c.ring()
		}
	}
}

// listenOnce waits for a datagram or a timer, and sees to it.
func (k *background) listenOnce() {
	c := k.c
	if !c.sleep.role.TryLock() {
		return // a sleeper has it, or has just left: look again
	}
	k.listening.Store(true)
	until := c.clock() + time.Second
	k.until.Store(int64(until)) // before the timers are looked at: who sets one later finds it
	until = min(until, time.Duration(c.due.Load()))
	r := mmsg.Woken
	if !c.sleep.asleep.Load() && !c.held.Load() { // who is asleep waits for the role
		r = c.wire.Wait(c.base.Add(until))
	}
	k.until.Store(0)
	k.listening.Store(false)
	c.sleep.role.Unlock()
	if r == mmsg.Woken && !c.held.Load() {
		return
	}
	found, done := c.attend()
	if found {
		c.ring()
	}
	if !done {
		k.nap(tick)
	}
}
