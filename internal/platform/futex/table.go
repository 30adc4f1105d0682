package futex

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// table replaces the wait queues of the kernel within one process. Systems without futex(2) use it; all build it.
type table struct {
	mu      sync.Mutex
	waiters map[*atomic.Uint32][]chan struct{} // guarded by mu; first come, first woken
}

func (t *table) waitFor(addr *atomic.Uint32, val uint32, timeout time.Duration) bool {
	ch := make(chan struct{}, 1)
	if !t.enterQueue(addr, val, ch) {
		return true
	}
	if timeout < 0 {
		<-ch
		return true
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ch:
		return true
	case <-timer.C:
		return !t.removeWaiter(addr, ch)
	}
}

// enterQueue queues ch unless the word has changed. It reads the word under mu. A waker changes it before it takes mu.
func (t *table) enterQueue(addr *atomic.Uint32, val uint32, ch chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if addr.Load() != val {
		return false
	}
	if t.waiters == nil {
		t.waiters = make(map[*atomic.Uint32][]chan struct{})
	}
	t.waiters[addr] = append(t.waiters[addr], ch)
	return true
}

// removeWaiter removes ch from the queue. False means that a waker has done so already.
func (t *table) removeWaiter(addr *atomic.Uint32, ch chan struct{}) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.waiters[addr]
	i := slices.Index(queue, ch)
	if i >= 0 {
		t.setQueue(addr, slices.Delete(queue, i, i+1))
	}
	return i >= 0
}

func (t *table) wakeWaiters(addr *atomic.Uint32, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	queue := t.waiters[addr]
	n = max(0, min(n, len(queue)))
	for _, ch := range queue[:n] {
		ch <- struct{}{}
	}
	t.setQueue(addr, queue[n:])
	return n
}

func (t *table) setQueue(addr *atomic.Uint32, queue []chan struct{}) {
	if len(queue) == 0 {
		delete(t.waiters, addr)
		return
	}
	t.waiters[addr] = queue
}
