package spin

import (
	"sync"
	"testing"
	"unsafe"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
