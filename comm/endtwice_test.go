package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
)

// TestEndBesideTheQueue: one goroutine ends a queued send while the queue lets go of it. The queue has sent it whole,
// sent its envelope, cancelled it, or ended with the endpoint. The send is complete once, and not before both have let
// go.
func TestEndBesideTheQueue(t *testing.T) {
	for _, x := range []struct {
		name  string
		mode  Mode
		other func(t *testing.T, a, b *Server, r Req) // what the queue does
	}{
		{"whole", Standard, func(t *testing.T, a, b *Server, _ Req) {
			a.turns(t, b, func() bool { return b.arrived == 1 })
		}},
		{"envelope", Synchronous, func(t *testing.T, a, b *Server, _ Req) {
			a.turns(t, b, func() bool {
				_, ok, err := b.Iprobe(1, 0, 5)
				return ok || err != nil
			})
		}},
		{"cancelled", Standard, func(_ *testing.T, a, _ *Server, r Req) { a.Cancel(r) }},
		{"closed", Standard, func(_ *testing.T, a, _ *Server, _ Req) { a.e.Close() }},
	} {
		t.Run(x.name, func(t *testing.T) {
			j := newJob(t, 2, conduit.Config{}, Config{})
			a, b := j[0], j[1]
			g := &gate{left: make(chan struct{}), release: make(chan struct{})}
			close(g.release)
			a.e.Lock(1)
			a.e.Enqueue(1, g)
			r, err := a.Isend(1, 1, 5, make([]byte, 16), &Options{Form: Nonblocking, Mode: x.mode})
			if err != nil {
				t.Fatal(err)
			}
			g.open = true
			happened := false
			hookRemoved = func() {
				happened = true
				x.other(t, a, b, r)
				if r.Ready() {
					t.Error("the send is complete while another goroutine is about to end it")
				}
			}
			defer func() { hookRemoved = nil }()
			why := errors.New("the peer is gone")
			a.failNumber(r.o.id, why, nil)
			hookRemoved = nil
			if !happened {
				t.Fatal("the send had no number")
			}
			if !r.Ready() {
				t.Fatalf("the send is %s and waits", r.o.stateName())
			}
			if _, err := a.Wait(r); !errors.Is(err, why) && !errors.Is(err, ErrCancelled) && !errors.Is(err, ErrClosed) {
				t.Errorf("the send ended with %v", err)
			}
		})
	}
}
