package mixed_test

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/mixedtest"
	"github.com/golci/golci/internal/transport/mixed"
)

// TestLastWordsOfTheDead: Failed names a far peer, and Pending is false. Then all that the peer sent has been
// delivered, also after a long silence of the far side.
func TestLastWordsOfTheDead(t *testing.T) {
	near, far := locals(t, 2, conduit.Config{}), besides(t, 2, conduit.Config{})
	defer closeAll(t, near...)
	c, err := mixed.New(near[0], mixedtest.WithBell(far[0]), func(peer int) bool { return peer == 0 })
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if c.Pending() {
			t.Fatal("something is pending")
		}
	}
	for skip := range 200 { // whichever look it is
		if skip == 0 {
			if !send(far[1], 0) {
				t.Fatal("no room")
			}
			closeAll(t, far[1])
		}
		if err := c.Failed(1); !errors.Is(err, conduit.ErrPeerClosed) {
			t.Fatal(err)
		}
		if !c.Pending() {
			t.Fatalf("look %d: the peer has failed and nothing is pending, but its record has not been delivered", skip)
		}
	}
	y := &tally{}
	for range 10 {
		c.Poll(8, y)
	}
	if y.from[1] != 1 {
		t.Errorf("%d records of the peer came", y.from[1])
	}
	closeAll(t, far[0])
}
