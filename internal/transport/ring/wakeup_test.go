package ring_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
	"github.com/golci/golci/internal/transport/ring"
)

type count struct{ n int }

func (c *count) Record(int, []byte)              { c.n++ }
func (c *count) Bulk(int, uint64, int64, []byte) { c.n++ }

// Gone implements conduit.Sink.
func (*count) Gone(int, error) {}

// TestNoLostWakeUpWidened plays ping-pong between sleepers with the windows of the protocol held open: after arming and
// before the last look, and between publication and announcement.
func TestNoLostWakeUpWidened(t *testing.T) {
	widen := func() {
		switch rand.IntN(4) { // which schedule comes is not repeatable in any case
		case 0:
			runtime.Gosched()
		case 1:
			time.Sleep(time.Duration(rand.IntN(50)) * time.Microsecond)
		}
	}
	ring.SetHooks(widen, widen)
	defer ring.SetHooks(nil, nil)
	for _, scan := range []int{8, -1} {
		cs, err := local.New(2, conduit.Config{ScanLimit: scan})
		if err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(3*time.Minute, func() { panic("a wake-up was lost") })
		var wg sync.WaitGroup
		for i, c := range cs {
			wg.Go(func() {
				s := &count{}
				for k := range 3000 {
					if i == 0 {
						if _, st := c.Reserve(1, conduit.Request, 8); st != conduit.OK {
							t.Errorf("Reserve: %v", st)
						}
						c.Commit(1, 8)
					}
					for s.n == k {
						if c.Poll(1, s) == 0 {
							c.Sleep(time.Hour, nil)
						}
					}
					if i == 1 {
						c.BulkSend(0, 1, 0, []byte{1}, nil)
					}
				}
			})
		}
		wg.Wait()
		stop.Stop()
		for _, c := range cs {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestManySenders has more senders than fit one word of the bit-vector.
func TestManySenders(t *testing.T) {
	const n, each = 150, 40
	cs, err := local.New(n, conduit.Config{Loan: 4, MaxRecord: 64, ReplySpace: 64, BulkChunk: -1})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, c := range cs[1:] {
		wg.Go(func() {
			for k := 0; k < each; {
				if _, st := c.Reserve(0, conduit.Request, 64); st == conduit.OK {
					c.Commit(0, 64)
					k++
				} else {
					runtime.Gosched()
				}
			}
		})
	}
	stop := time.AfterFunc(3*time.Minute, func() { panic("records were lost") })
	s := &count{}
	for s.n < (n-1)*each {
		if cs[0].Poll(16, s) == 0 {
			cs[0].Sleep(time.Hour, nil)
		}
	}
	stop.Stop()
	wg.Wait()
	for _, c := range cs {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}
