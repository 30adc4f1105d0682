package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/comm/conduit"
)

// TestGoWithoutAnOffer: an answer that asks for copies into memory is a fault of its sender where the envelope has
// offered none.
func TestGoWithoutAnOffer(t *testing.T) {
	faults := make(chan error, 1)
	j := newJob(t, 2, conduit.Config{}, Config{}, fatalTo(func(err error) { faults <- err }))
	a, z := j[0], j[1]
	r, err := a.IsendWith(1, 1, 5, make([]byte, 64<<10), Standard, Terms{Endable: true})
	if err != nil {
		t.Fatal(err)
	}
	z.control(0, handlerGo, r.o.id, 1, 0, 64<<10, 4096, 1)
	for range 10 {
		a.Poll()
	}
	select {
	case err := <-faults:
		if !errors.Is(err, ErrProtocol) {
			t.Error(err)
		}
	default:
		t.Error("no fault")
	}
	a.Close() // ends what is listed to be copied
	if _, err := a.Wait(r); !errors.Is(err, ErrClosed) {
		t.Errorf("the send ended with %v", err)
	}
}

// TestMrecvAfterClose: a message that was probed for is not received when the communication has ended.
func TestMrecvAfterClose(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	a, z := j[0], j[1]
	if _, err := a.Isend(1, 1, 5, make([]byte, 64<<10), Standard); err != nil {
		t.Fatal(err)
	}
	z.Poll()
	m, _, err := z.Improbe(1, 0, 5)
	if err != nil || m == nil {
		t.Fatal(m, err)
	}
	z.Close()
	if _, err := z.Imrecv(m, make([]byte, 64<<10)); !errors.Is(err, ErrClosed) {
		t.Errorf("the receive began: %v", err)
	}
	a.Close()
}
