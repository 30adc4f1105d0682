package futex

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// both runs f on the platform's calls and on the portable table.
func both(t *testing.T, f func(t *testing.T, wait waitFunc, wake wakeFunc)) {
	t.Run("native", func(t *testing.T) { f(t, Wait, Wake) })
	t.Run("table", func(t *testing.T) {
		var tab table
		f(t, tab.waitFor, tab.wakeWaiters)
		if len(tab.waiters) != 0 {
			t.Errorf("%d queues left behind", len(tab.waiters))
		}
	})
}

type (
	waitFunc func(*atomic.Uint32, uint32, time.Duration) bool
	wakeFunc func(*atomic.Uint32, int) int
)

func TestWaitReturnsWhenValueDiffers(t *testing.T) {
	both(t, func(t *testing.T, wait waitFunc, _ wakeFunc) {
		var w atomic.Uint32
		w.Store(7)
		if !wait(&w, 8, Forever) {
			t.Error("reported a timeout")
		}
	})
}

func TestWaitTimesOut(t *testing.T) {
	both(t, func(t *testing.T, wait waitFunc, wake wakeFunc) {
		var w atomic.Uint32
		// A signal to the process may end a wait early. Only a timeout ends this loop.
		for wait(&w, 0, time.Millisecond) {
			runtime.Gosched()
		}
		if n := wake(&w, 1); n != 0 {
			t.Errorf("woke %d, nobody waits", n)
		}
	})
}

// TestPingPong: a lost wake-up would hang it.
func TestPingPong(t *testing.T) {
	both(t, func(t *testing.T, wait waitFunc, wake wakeFunc) {
		const rounds = 5000
		var ball atomic.Uint32
		play := func(mine uint32) {
			for range rounds {
				for ball.Load() != mine {
					wait(&ball, 1-mine, Forever)
				}
				ball.Store(1 - mine)
				wake(&ball, 1)
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() { play(0) })
		wg.Go(func() { play(1) })
		wg.Wait()
		if got := ball.Load(); got != 0 {
			t.Errorf("ball is at %d", got)
		}
	})
}

func TestWakeCountsWaiters(t *testing.T) {
	both(t, func(t *testing.T, wait waitFunc, wake wakeFunc) {
		const waiters = 3
		var word, out atomic.Uint32
		var wg sync.WaitGroup
		for range waiters {
			wg.Go(func() {
				for word.Load() == 0 {
					wait(&word, 0, Forever)
				}
				out.Add(1)
			})
		}
		// All three sleep. Each wake-up must wake one of them: the word changes only after the third.
		for woken := 0; woken < waiters; {
			n := wake(&word, 1)
			if n > 1 {
				t.Fatalf("asked for one, woke %d", n)
			}
			woken += n
			runtime.Gosched()
		}
		word.Store(1)
		wake(&word, waiters)
		wg.Wait()
		if out.Load() != waiters {
			t.Errorf("%d of %d returned", out.Load(), waiters)
		}
	})
}

func TestMembarrier(t *testing.T) {
	if !RegisterMembarrier() {
		if Membarrier() && runtime.GOOS != "linux" {
			t.Error("a barrier without a kernel that has one")
		}
		t.Skip("no membarrier here")
	}
	if !Membarrier() || !MembarrierPrivate() {
		t.Error("registered, but refused")
	}
}

// TestMembarrierReadyDoesNotWait: whoever asks before the kernel has answered gets false at once.
func TestMembarrierReadyDoesNotWait(t *testing.T) {
	var r registration
	answer := make(chan bool)
	ask := func() bool { return <-answer }
	r.startOnce(ask)
	r.startOnce(ask)
	if r.ok.Load() {
		t.Error("ready before the kernel has answered")
	}
	answer <- true
	<-r.done
	if !r.ok.Load() {
		t.Error("not ready after the kernel has agreed")
	}
	if MembarrierReady(); RegisterMembarrier() != MembarrierReady() {
		t.Error("registered, but not ready")
	}
}
