package fult

import (
	"fmt"

	"github.com/golci/golci/internal/platform/spin"
)

// Mutex is a lock that its holder may keep during a wait. The zero value is unlocked. Callers get the lock in the
// order of their calls, because Unlock hands it over. It must not be copied after first use.
type Mutex struct {
	mu     spin.Lock // guards what follows
	locked bool
	q      waitQueue
}

// Lock takes m. me is the caller; nil stands for the calling thread or goroutine. It may switch threads or block.
func (m *Mutex) Lock(me Waiter) {
	m.mu.Lock()
	if !m.locked {
		m.locked = true
		m.mu.Unlock()
		return
	}
	me = orGoroutine(me)
	e := m.q.pushWaiter(me)
	m.mu.Unlock()
	killed := e.awaitGrant(me)
	m.mu.Lock()
	granted := e.granted.Load()
	if !granted {
		m.q.removeEntry(e)
	}
	m.q.recycleEntry(e)
	m.mu.Unlock()
	if !killed {
		return
	}
	if granted {
		_ = m.Unlock(me) // it is locked: by us
	}
	me.Wait() // unwinds
}

// TryLock takes m if it is free, and tells whether it has. It does not block or switch threads.
func (m *Mutex) TryLock() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.locked {
		return false
	}
	m.locked = true
	return true
}

// Unlock releases m. The caller need not be the one that locked it. me is the caller, or nil. It does not block or
// switch threads. If m is not locked, the error wraps ErrArgument.
func (m *Mutex) Unlock(me Waiter) error {
	m.mu.Lock()
	if !m.locked {
		m.mu.Unlock()
		return fmt.Errorf("fult: unlock of an unlocked mutex: %w", ErrArgument)
	}
	who := m.q.grantFirst()
	m.locked = who != nil
	m.mu.Unlock()
	if who != nil {
		signalFrom(me, who)
	}
	return nil
}

// Cond is a condition variable with its Mutex L, which must be set before first use. It must not be copied.
type Cond struct {
	L  *Mutex
	mu spin.Lock // guards q
	q  waitQueue
}

// Wait releases L, waits for Signal or Broadcast, and takes L again. me is the caller, which holds L; nil stands for
// the calling thread or goroutine. Wait does not return without a Signal or Broadcast, but the condition may have
// changed again by then. It switches threads or blocks. The error is that of Unlock.
func (c *Cond) Wait(me Waiter) error {
	me = orGoroutine(me)
	c.mu.Lock()
	e := c.q.pushWaiter(me)
	c.mu.Unlock()
	if err := c.L.Unlock(me); err != nil {
		c.dropEntry(e)
		return err
	}
	killed := e.awaitGrant(me)
	granted := c.dropEntry(e)
	if killed {
		if granted {
			c.Signal(me) // passed on to a caller that goes on
		}
		me.Wait() // unwinds
	}
	c.L.Lock(me)
	return nil
}

// dropEntry frees e and says whether it had been granted.
func (c *Cond) dropEntry(e *entry) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	granted := e.granted.Load()
	if !granted {
		c.q.removeEntry(e)
	}
	c.q.recycleEntry(e)
	return granted
}

// Signal wakes the caller that has waited longest, if any. me: the caller, or nil. It does not block or switch threads.
func (c *Cond) Signal(me Waiter) {
	c.mu.Lock()
	who := c.q.grantFirst()
	c.mu.Unlock()
	if who != nil {
		signalFrom(me, who)
	}
}

// Broadcast wakes all waiting callers. me is the caller, or nil. It does not block or switch threads.
func (c *Cond) Broadcast(me Waiter) {
	c.mu.Lock()
	whom := c.q.grantAll(nil)
	c.mu.Unlock()
	for _, who := range whom {
		signalFrom(me, who)
	}
}
