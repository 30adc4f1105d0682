package spin

import (
	"sync"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/futex"
)

// TestMain waits for the registration, since a bias begins only then.
func TestMain(m *testing.M) {
	futex.RegisterMembarrier()
	goleak.VerifyTestMain(m)
}

func TestMutualExclusion(t *testing.T) {
	var l Lock
	var n int
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 10000 {
				l.Lock()
				n++
				l.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 40000 {
		t.Fatalf("lost updates: %d", n)
	}
}

func TestTryLock(t *testing.T) {
	var l Lock
	if !l.TryLock() || l.TryLock() {
		t.Fatal("TryLock on a free lock must succeed once")
	}
	l.Unlock()
	if !l.TryLock() {
		t.Fatal("TryLock after Unlock must succeed")
	}
}

func TestSize(t *testing.T) {
	if s := unsafe.Sizeof(Lock{}); s != 4 {
		t.Fatalf("Lock takes %d bytes, want 4", s)
	}
}

func BenchmarkLockUnlock(b *testing.B) {
	var l Lock
	for range b.N {
		l.Lock()
		l.Unlock() //lint:ignore SA2001 the empty section is what is measured
	}
}

// TestBiasedExcludes: one goroutine uses the lock so often that it becomes the owner. Others take the lock away from
// time to time. Only one is inside at a time.
func TestBiasedExcludes(t *testing.T) {
	var l Biased
	var n, others int
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(100 * time.Microsecond):
				}
				l.Lock()
				n++
				others++
				l.Unlock()
				if l.TryLock() {
					n++
					others++
					l.Unlock()
				}
			}
		})
	}
	const mine = 2_000_000
	owned := false
	for range mine {
		l.Lock()
		n++
		owned = owned || l.byBias != 0
		l.Unlock()
	}
	close(stop)
	wg.Wait()
	if n != mine+others {
		t.Errorf("lost updates: %d of %d", n, mine+others)
	}
	if owned != canFence() {
		t.Errorf("the lock became its user's own: %t; there is a fence: %t", owned, canFence())
	}
}

func TestBiasedTryLock(t *testing.T) {
	var l Biased
	for range 4 * runToOwn {
		if !l.TryLock() {
			t.Fatal("TryLock of a free lock failed")
		}
		if l.TryLock() {
			t.Fatal("TryLock of a lock that the caller holds succeeded")
		}
		l.Unlock()
	}
	l.Lock()
	taken := make(chan bool)
	go func() {
		l.Lock()
		taken <- true
		l.Unlock()
	}()
	select {
	case <-taken:
		t.Error("two hold the lock")
	case <-time.After(20 * time.Millisecond):
	}
	l.Unlock()
	<-taken
}

// TestBiasedIsGivenUp: a lock that changes hands again and again loses its bias.
func TestBiasedIsGivenUp(t *testing.T) {
	var l Biased
	var wg sync.WaitGroup
	for range 2 * mostTurns {
		for range 2 * runToOwn {
			l.Lock()
			l.Unlock() //lint:ignore SA2001 the empty section is what is tested
		}
		wg.Go(func() { l.Lock(); defer l.Unlock() })
		wg.Wait()
	}
	if canFence() && (l.turns != mostTurns || l.owner.Load() != 0) {
		t.Errorf("%d biases, owner %#x", l.turns, l.owner.Load())
	}
}

// TestBiasedStaleOwner: a former owner stops between its two looks at owner, and the lock becomes another's. When it
// goes on, it neither enters nor lets anybody else in.
func TestBiasedStaleOwner(t *testing.T) {
	if !canFence() {
		t.Skip("there is no bias without a fence")
	}
	var l Biased
	own := func() uintptr {
		for range 2 * runToOwn {
			l.Lock()
			l.Unlock() //lint:ignore SA2001 the empty section is what is tested
		}
		return l.owner.Load()
	}
	stale := own()
	inside, leave, left := make(chan uintptr), make(chan bool), make(chan bool)
	go func() {
		o := own()
		l.Lock()
		inside <- o
		<-leave
		l.Unlock()
		close(left)
	}()
	if o := <-inside; o == stale || o == 0 || l.byBias == 0 {
		t.Errorf("owner %#x, then %#x", stale, o)
	}
	if l.enterByBias(stale) {
		t.Error("the former owner entered")
	}
	taken := make(chan bool)
	go func() {
		l.Lock()
		close(taken)
		l.Unlock()
	}()
	select {
	case <-taken:
		t.Error("two hold the lock")
	case <-time.After(20 * time.Millisecond):
	}
	close(leave)
	<-left
	<-taken
}

func BenchmarkBiased(b *testing.B) {
	var l Biased
	for range b.N {
		l.Lock()
		l.Unlock() //lint:ignore SA2001 the empty section is what is measured
	}
}
