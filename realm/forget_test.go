package realm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/events"
)

// mostReplicas is how many replicas a rank may have of events that nobody there waits for.
const mostReplicas = 16 * events.KeptReplicas

func countReplicas(rs *events.Replicas) (n int) {
	for i := range rs.Shards {
		s := &rs.Shards[i]
		s.Mu.Lock()
		n += len(s.Of)
		s.Mu.Unlock()
	}
	return n
}

func hasReplica(rs *events.Replicas, e event.ID) bool {
	s := rs.Shard(e)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	return s.Of[events.Without(e)] != nil
}

// heapBytes is what the process has on its heap.
func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestReplicasForgotten: many events of one rank are alive at once, and another rank waits for all. When they have
// triggered, that rank keeps what it knows of a bounded number. What it has forgotten it learns again, by a wait or a
// look.
func TestReplicasForgotten(t *testing.T) {
	const n = 4 * mostReplicas
	team(t, 2, rankConfig("local"), func(rts []*Runtime) {
		a, b := rts[0], rts[1]
		var us [n]UserEvent
		for i := range us {
			us[i] = a.NewUserEvent()
			must(t, b.Subscribe(us[i].Event()))
		}
		for i, u := range us {
			if i%2 == 0 {
				must(t, u.Cancel(errTest))
			} else {
				must(t, b.UserEvent(u.Event()).Trigger(NoEvent))
			}
		}
		for i, u := range us {
			if err := b.Wait(context.Background(), u.Event()); errors.Is(err, ErrPoisoned) != (i%2 == 0) {
				t.Fatalf("event %d: %v", i, err)
			}
		}
		if got := countReplicas(&b.ev.Replicas); got > mostReplicas+1 { // one is of the event that ends this job
			t.Errorf("%d replicas of %d events, more than %d", got, n, mostReplicas)
		}
		forgotten := 0
		for i, u := range us {
			if hasReplica(&b.ev.Replicas, u.e) || *b.ev.Replicas.Shard(u.e).Recently(u.e) == u.e {
				continue
			}
			if forgotten++; forgotten > 1000 {
				break
			}
			if forgotten%2 == 0 {
				if done, err := b.HasTriggered(u.Event()); done || err != nil {
					t.Fatalf("event %d is forgotten, and has triggered: %v", i, err)
				}
				must(t, b.ev.OfRank.BlockUntil(func() bool { done, _ := b.HasTriggered(u.Event()); return done }))
			}
			if err := b.Wait(context.Background(), u.Event()); errors.Is(err, ErrPoisoned) != (i%2 == 0) {
				t.Errorf("event %d, which was forgotten: %v", i, err)
			}
		}
		if forgotten == 0 {
			t.Error("nothing is forgotten")
		}
	})
}

// TestCancelAcrossRanks creates events on one rank and has another wait for them and cancel them, or every other one.
// In the second case each slot can have a few events only. The memory of neither rank grows.
func TestCancelAcrossRanks(t *testing.T) {
	const window, perSlot = 64, 2*event.MaxRuns - 1
	rounds := perSlot * 2 * mostReplicas / window
	if testing.Short() {
		rounds /= 16
	}
	for _, every := range []int{1, 2} {
		t.Run(fmt.Sprint(every), func(t *testing.T) {
			team(t, 2, rankConfig("local"), func(rts []*Runtime) {
				a, b := rts[0], rts[1]
				var half uint64
				for i := range 2 * rounds {
					if i == rounds {
						half = heapBytes()
					}
					var us [window]UserEvent
					for k := range us {
						us[k] = a.NewUserEvent()
						must(t, b.Subscribe(us[k].Event()))
					}
					for _, u := range us {
						if i%every == 0 {
							must(t, b.UserEvent(u.Event()).Cancel(errTest))
						} else {
							must(t, b.UserEvent(u.Event()).Trigger(NoEvent))
						}
					}
					for _, u := range us {
						if err := a.Wait(context.Background(), u.Event()); errors.Is(err, ErrPoisoned) != (i%every == 0) {
							t.Fatalf("%v: %v", u.Event(), err)
						}
					}
				}
				t.Logf("%d events; heap %d KiB after half of them, %d KiB after all", 2*rounds*window, half>>10, heapBytes()>>10)
				if got := countReplicas(&b.ev.Replicas); got > mostReplicas+window+1 {
					t.Errorf("%d replicas", got)
				}
			})
		})
	}
}
