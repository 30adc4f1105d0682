package comm

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// gate is what a pair's queue holds before the sends of a test. When it is open it leaves the queue. Then it keeps the
// poller until the test lets it go on. What left the queue behind it has been sent, and its owner has not been told.
type gate struct {
	next    am.Queued
	open    bool // set by the test while nobody polls
	left    chan struct{}
	release chan struct{}
}

func (g *gate) Emit() bool { return g.open }

func (g *gate) Sent(*fult.Worker) {
	close(g.left)
	<-g.release
}

func (g *gate) Fail(error, *fult.Worker) { close(g.left) }

func (g *gate) Next() *am.Queued { return &g.next }

// TestEndBesideAPoller: a send has just left the queue, and another goroutine that polls has it in hand. The op must
// not go back to the caller of End until that goroutine lets go.
func TestEndBesideAPoller(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	a := j[0]
	g := &gate{left: make(chan struct{}), release: make(chan struct{})}
	if a.e.Lock(1) != am.Stalled {
		t.Fatal("rank 1 is not there")
	}
	a.e.Enqueue(1, g)
	r, err := a.Isend(1, 1, 5, make([]byte, 16), &Options{Mode: Synchronous, Endable: true})
	if err != nil {
		t.Fatal(err)
	}
	g.open = true
	polled := make(chan struct{})
	go func() {
		a.Poll()
		close(polled)
	}()
	<-g.left
	ended := make(chan bool, 1)
	go func() { ended <- a.End(r) && r.Ready() }()
	select {
	case ok := <-ended:
		ended <- ok
	case <-time.After(20 * time.Millisecond):
	}
	close(g.release)
	if !<-ended {
		t.Error("End says that the send has ended while a poller is about to touch it")
	}
	<-polled
	if _, err := a.Wait(r); !errors.Is(err, ErrCancelled) {
		t.Errorf("the send ended with %v", err)
	}
}
