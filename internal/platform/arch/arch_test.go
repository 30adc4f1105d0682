package arch

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestStoreRelPublishes(t *testing.T) {
	const rounds = 20000
	var flag atomic.Uint64
	var flag32 atomic.Uint32
	var data [2]int
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 1; i <= rounds; i++ {
			for flag32.Load() != uint32(i-1) {
				Pause()
			}
			data[0], data[1] = i, -i
			StoreRel64(&flag, uint64(i))
		}
	})
	for i := 1; i <= rounds; i++ {
		for flag.Load() != uint64(i) {
			Pause()
		}
		if data[0] != i || data[1] != -i {
			t.Fatalf("round %d: saw %v", i, data)
		}
		StoreRel32(&flag32, uint32(i))
	}
	wg.Wait()
}

func TestGIsStableAndDistinct(t *testing.T) {
	mine := G()
	if mine == 0 || mine != G() {
		t.Fatalf("G() = %#x, then %#x", mine, G())
	}
	other := make(chan uintptr)
	go func() { other <- G() }()
	if got := <-other; got == mine {
		t.Fatalf("two goroutines share %#x", got)
	}
}

func BenchmarkStoreRel64(b *testing.B) {
	var x atomic.Uint64
	for i := range b.N {
		StoreRel64(&x, uint64(i))
	}
}

func BenchmarkStoreTyped(b *testing.B) {
	var x atomic.Uint64
	for i := range b.N {
		x.Store(uint64(i))
	}
}

func TestTicksGoForward(t *testing.T) {
	last := Ticks()
	for range 1000 {
		now := Ticks()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
	if end := time.Now().Add(time.Second); Ticks() == last {
		for Ticks() == last {
			if time.Now().After(end) {
				t.Fatal("the counter stands still")
			}
		}
	}
}

func BenchmarkTicks(b *testing.B) {
	for range b.N {
		Ticks()
	}
}
