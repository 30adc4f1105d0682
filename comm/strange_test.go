package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// TestGoWithoutAnOffer: an answer asks for a copy into memory, but the envelope has offered none. That is a fault of
// its sender.
func TestGoWithoutAnOffer(t *testing.T) {
	faults := make(chan error, 1)
	j := newJob(t, 2, conduit.Config{}, Config{}, fatalTo(func(err error) { faults <- err }))
	a, z := j[0], j[1]
	r, err := a.Isend(1, 1, 5, make([]byte, 64<<10), &Options{Endable: true})
	if err != nil {
		t.Fatal(err)
	}
	z.e.PostUrgent(0, handlerGo, r.o.id, 1, 0, 64<<10, 4096, 1)
	wantFault(t, j, faults, r)
}

// wantFault polls until the fault of a peer has been told to rank 0, and closes that, which ends its send r.
func wantFault(t *testing.T, j job, faults <-chan error, r Req) {
	t.Helper()
	for range 10 {
		j[1].Poll()
		j[0].Poll()
	}
	select {
	case err := <-faults:
		if !errors.Is(err, ErrProtocol) {
			t.Error(err)
		}
	default:
		t.Error("no fault")
	}
	j[0].Close()
	if _, err := j[0].Wait(r); !errors.Is(err, ErrClosed) {
		t.Errorf("the send ended with %v", err)
	}
}

// TestChunkForASend: bulk data under the number of a send are a fault of the peer that sends them.
func TestChunkForASend(t *testing.T) {
	faults := make(chan error, 1)
	j := newJob(t, 2, conduit.Config{}, Config{}, fatalTo(func(err error) { faults <- err }))
	a, z := j[0], j[1]
	r, err := a.Isend(1, 1, 5, make([]byte, 64<<10), nil)
	if err != nil {
		t.Fatal(err)
	}
	z.e.PutBulk(0, &am.Bulk{ID: r.o.id, Channel: bulkChannel, Data: make([]byte, 8), Owner: noOwner{}})
	wantFault(t, j, faults, r)
}

// noOwner does not look at the end of its bulk data.
type noOwner struct{}

func (noOwner) Sent(*fult.Worker)        {}
func (noOwner) Fail(error, *fult.Worker) {}

// TestMrecvAfterClose: a message that was probed for is not received when the communication has ended.
func TestMrecvAfterClose(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	a, z := j[0], j[1]
	if _, err := a.Isend(1, 1, 5, make([]byte, 64<<10), nil); err != nil {
		t.Fatal(err)
	}
	z.Poll()
	m, _, err := z.Improbe(1, 0, 5)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	z.Close()
	if _, err := z.Imrecv(m, make([]byte, 64<<10), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("the receive began: %v", err)
	}
	z.freeMessage(m.m, -1) // which nobody can receive
	a.Close()
}
