package win

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/golci/golci/mpi/internal/core"
)

// TestCounts: a rank that reaches the counts of another sends no message but to one that sleeps, which it then wakes.
// The other rank looks into the memory of the first one to see that it sleeps.
func TestCounts(t *testing.T) {
	const rounds = 50
	for name, make := range map[string]func(c *core.Comm, n int64) (*Window, error){
		"allocate": makers["allocate"], "shared": makers["shared"],
	} {
		t.Run(name, func(t *testing.T) {
			ranks(t, 2, func(c *core.Comm) error {
				w, err := make(c, 1)
				if err != nil {
					return err
				}
				if w.mapped == nil || w.mapped[0].counts == nil {
					return errors.New("the ranks do not reach each other's counts")
				}
				asleep := w.mapped[0].asleep
				for range rounds {
					if c.Rank() == 0 {
						err = first(w.Post([]int{1}, 0), w.Wait(), expect("asleep", int64(asleep.Load()), 0),
							w.Start([]int{1}, 0), w.Complete())
					} else {
						err = first(w.Start([]int{0}, 0), sleeps(w), w.Complete(), sleeps(w), w.Post([]int{0}, 0), w.Wait())
					}
					if err != nil {
						return err
					}
				}
				return first(c.Barrier(), w.Free())
			}, "GOLCI_SPIN", "0")
		})
	}
}

// sleeps waits until rank 0 says that it waits.
func sleeps(w *Window) error {
	for end := time.Now().Add(5 * time.Minute); w.mapped[0].asleep.Load() == 0; runtime.Gosched() {
		if time.Now().After(end) {
			return errors.New("rank 0 does not say that it waits")
		}
	}
	return nil
}

// TestManyCounts: more ranks than there is room for tell each other by messages, and the heads have their lengths.
func TestManyCounts(t *testing.T) {
	head := func(n int) []byte { return make([]byte, headSize(n)) }
	for n, want := range map[int]int64{
		1: 192, 2: 192, 3: 256, 4: 256, maxCounted: 128 + 32*maxCounted, maxCounted + 1: 128,
	} {
		of := mappedAt(head(n), nil, n)
		if headSize(n) != want || (of.counts == nil) != (n > maxCounted) || n <= maxCounted && len(of.counts) != n {
			t.Errorf("%d ranks: %d bytes, %d counts", n, headSize(n), len(of.counts))
		}
	}
}

// TestPostedTwice: a post and a complete are used by one start and one wait each, also if two come before.
func TestPostedTwice(t *testing.T) {
	for name, make := range makers {
		t.Run(name, func(t *testing.T) {
			each(t, func(c *core.Comm) error {
				w, err := make(c, 1)
				if err != nil {
					return err
				}
				for range 10 {
					if c.Rank() == 0 {
						all := w.allRanks()
						err = first(w.Post(all, 0), w.Start([]int{0}, 0), w.Complete(), w.Wait())
					} else {
						err = first(w.Start([]int{0}, 0), w.Complete())
					}
					if err != nil {
						return err
					}
				}
				over, err := w.Test()
				if err == nil || over {
					return errors.New("an exposure is left")
				}
				w.mu.Lock()
				left := w.firstLacking(hasPosted, []int{0}) < 0 || w.firstLacking(hasEnded, w.allRanks()[:1]) < 0
				w.mu.Unlock()
				if left {
					return errors.New("a post or a complete is left")
				}
				return first(c.Barrier(), w.Free())
			})
		})
	}
}
