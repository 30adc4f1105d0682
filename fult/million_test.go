package fult

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestMillion has a million threads alive and blocked at once, on four workers, and serves them all, several times.
func TestMillion(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("needs 3.5 GB")
	}
	const workers, n, rounds = 4, 1_000_000, 3
	s := open(t, Config{Workers: workers, StuckAfter: time.Minute})
	before := residentKB(t)
	threads := make([]*Thread, n)
	tokens := make([]int32, n) // of the thread alone, but for the main goroutine while the thread waits
	var waiting atomic.Int64
	turn := make([]atomic.Int32, n)
	for i := range n {
		mustGoOn(t, s, i%workers, func(th *Thread) {
			threads[i] = th
			waiting.Add(1)
			for r := int32(1); r <= rounds; r++ {
				for turn[i].Load() < r {
					th.Wait()
				}
				tokens[i]++
				waiting.Add(1)
			}
		})
	}
	await := func(count int64) {
		for waiting.Load() < count {
			time.Sleep(time.Millisecond)
		}
	}
	await(n)
	if s.Live() != n {
		t.Errorf("%d alive", s.Live())
	}
	if after := residentKB(t); before > 0 {
		each := float64(after-before) * 1024 / n
		t.Logf("%.0f bytes a thread", each)
		if each > 3.5*1024 {
			t.Errorf("%.0f bytes a thread, want at most 3584", each)
		}
	}
	for r := int32(1); r <= rounds; r++ {
		start := time.Now()
		var givers sync.WaitGroup
		for g := range 2 {
			givers.Go(func() {
				for i := g; i < n; i += 2 {
					turn[i].Store(r)
					threads[i].Signal()
				}
			})
		}
		givers.Wait()
		await(int64(r+1) * n)
		t.Logf("round %d: %.2f M threads/s", r, n/time.Since(start).Seconds()/1e6)
	}
	if err := s.Wait(); err != nil {
		t.Fatal(err)
	}
	for i, k := range tokens {
		if k != rounds {
			t.Fatalf("thread %d was served %d times", i, k)
		}
	}
}

// residentKB returns the resident memory of the process, 0 where that cannot be told.
func residentKB(t *testing.T) int {
	t.Helper()
	runtime.GC()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kb, _ := strconv.Atoi(number)
	return kb
}
