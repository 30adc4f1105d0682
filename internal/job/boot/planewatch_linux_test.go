package boot

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// TestPlaneWatch: a rank is told of the end of the one behind it, on its node or beyond, and of nobody who is there. It
// is told again as long as that one remains. Then it looks after the next.
func TestPlaneWatch(t *testing.T) {
	for _, counts := range [][]int{{4}, {1, 1, 1, 1}, {2, 2}, {1, 3}} {
		t.Run(fmt.Sprint(counts), func(t *testing.T) {
			// A rank that ends before it was reached may be behind a firewall: nothing is told of it. So where nothing is
			// told, the ranks stay for longer in the next try.
			for pause := 30 * time.Millisecond; !planeWatch(t, counts, pause); pause *= 10 {
				if pause > time.Second {
					t.Fatalf("the end of a rank is not told, though it was there for %v", pause)
				}
			}
		})
	}
}

// planeWatch closes planes, each after a pause, and returns false if nothing is told of the end of one.
func planeWatch(t *testing.T, counts []int, pause time.Duration) bool {
	planes, _ := openAll(t, onNodes(t, counts...), 1)
	var remain atomic.Int32 // ranks from here on are not gone
	remain.Store(1)
	ended := make(chan int)
	over := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(over)
		planes[0].Watch(ctx, func(rank int) bool { return rank < int(remain.Load()) }, func(rank int) {
			select {
			case ended <- rank:
			case <-ctx.Done():
			}
		})
	}()
	defer func() {
		cancel()
		<-over
	}()
	for rank := 1; rank < 3; rank++ {
		select {
		case r := <-ended:
			t.Errorf("rank %d has ended, but is there", r)
		case <-time.After(pause):
		}
		planes[rank].Close()
		for i := range 3 {
			var late <-chan time.Time
			if i == 0 {
				late = time.After(5 * time.Second)
			}
			select {
			case got := <-ended:
				if got != rank {
					t.Errorf("rank %d has ended, want %d", got, rank)
				}
			case <-late:
				return false
			}
		}
		remain.Add(1)
		for len(ended) > 0 {
			<-ended
		}
	}
	return true
}

// TestPlaneWatchFirewall: who has never reached another node takes no refusal of there for the end of a rank. On its
// own node the kernel knows.
func TestPlaneWatchFirewall(t *testing.T) {
	for _, near := range []bool{true, false} {
		counts := []int{1, 1}
		if near {
			counts = []int{2}
		}
		planes, _ := openAll(t, onNodes(t, counts...), 1)
		planes[1].Close()
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		var ended atomic.Int32
		planes[0].Watch(ctx, func(int) bool { return ended.Load() > 0 }, func(int) { ended.Add(1) })
		cancel()
		if got := ended.Load(); near != (got == 1) {
			t.Errorf("near: %v; told of %d ends", near, got)
		}
	}
}

// TestPlaneWatchEnds: Watch returns when the plane is closed, also while it holds a connection, and when all are gone.
func TestPlaneWatchEnds(t *testing.T) {
	for _, counts := range [][]int{{2}, {1, 1}} {
		planes, _ := openAll(t, onNodes(t, counts...), 1)
		all := func(int) bool { return true }
		planes[0].Watch(t.Context(), all, func(int) { t.Error("nobody has ended") })
		over := make(chan struct{})
		go func() {
			defer close(over)
			planes[0].Watch(t.Context(), func(int) bool { return false }, func(int) { t.Error("nobody has ended") })
		}()
		time.Sleep(10 * time.Millisecond)
		planes[0].Close()
		<-over
	}
}
