//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"flag"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
)

var sleeps = flag.Int("sleeps", 2000, "how often ranks sleep in TestSleeps, over each network")

// inTurn counts the records of the peer.
type inTurn struct{ records int }

func (s *inTurn) Record(int, []byte)              { s.records++ }
func (s *inTurn) Bulk(int, uint64, int64, []byte) {}
func (s *inTurn) Gone(int, error)                 {}

// TestSleeps: two ranks send in turn, and each sleeps until the other has sent. No wake-up is lost: all sleeps have no
// end of their own, and half a minute with none that ends is a failure.
func TestSleeps(t *testing.T) {
	for _, w := range networks {
		t.Run(strings.ReplaceAll(w.Provider, ";", "+"), func(t *testing.T) {
			var slept atomic.Int64
			cs := w.job(t, 2, Config{})
			done := make(chan struct{})
			var wg sync.WaitGroup
			for rank, c := range cs {
				wg.Go(func() { sleepInTurn(t, c, rank == 0, &slept) })
			}
			go func() {
				wg.Wait()
				close(done)
			}()
			start := time.Now()
			for last := int64(-1); ; last = slept.Load() {
				select {
				case <-done:
					t.Logf("%d sleeps in %v", slept.Load(), time.Since(start).Round(time.Millisecond))
					for _, c := range cs {
						if err := c.Close(); err != nil {
							t.Error(err)
						}
					}
					return
				case <-time.After(30 * time.Second):
				}
				if slept.Load() == last {
					panic("a rank does not wake up: " + t.Name()) // with the stacks of all
				}
			}
		})
	}
}

// sleepInTurn is one of the ranks.
func sleepInTurn(t *testing.T, c *Conduit, begins bool, slept *atomic.Int64) {
	s := &inTurn{}
	for turn := range *sleeps / 2 {
		if begins || turn > 0 {
			b, st := c.Reserve(1-c.Rank(), conduit.Request, conduit.WordBytes)
			for ; st == conduit.Retry; b, st = c.Reserve(1-c.Rank(), conduit.Request, conduit.WordBytes) {
				c.Poll(1, s)
			}
			if len(b) == 0 {
				t.Errorf("rank %d, turn %d: %v", c.Rank(), turn, st)
				return
			}
			c.Commit(1-c.Rank(), conduit.WordBytes)
		}
		for s.records <= turn {
			c.Sleep(time.Hour, nil)
			slept.Add(1)
			c.Poll(8, s)
		}
	}
	if !begins { // the last answer
		if _, st := c.Reserve(1-c.Rank(), conduit.Request, conduit.WordBytes); st == conduit.OK {
			c.Commit(1-c.Rank(), conduit.WordBytes)
		}
	}
}
