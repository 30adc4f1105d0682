package conduit

import (
	"errors"
	"fmt"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		OK.String(): "ok", Retry.String(): "retry", Dead.String(): "dead", Status(9).String(): "Status(9)",
		Request.String(): "request", Reply.String(): "reply", System.String(): "system", Class(9).String(): "Class(9)",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPeerError(t *testing.T) {
	var err error = &PeerError{Peer: 3, Err: ErrPeerDied}
	if !errors.Is(err, ErrPeerDied) || errors.Is(err, ErrCorrupt) || err.Error() != "rank 3: peer died" {
		t.Errorf("%v", err)
	}
	err = &PeerError{Peer: 4, Err: ErrCorrupt, Detail: "record that it sent"}
	if err.Error() != "rank 4: peer broke the rules of the conduit: record that it sent" {
		t.Errorf("%v", err)
	}
}

// TestPeerErrorIsErrPeer: whatever the reason, a peer that cannot be reached is an ErrPeer. A rank that has closed
// its own conduit has lost no peer.
func TestPeerErrorIsErrPeer(t *testing.T) {
	for _, reason := range []error{ErrPeerDied, ErrPeerClosed, ErrCorrupt, ErrUnreachable} {
		err := fmt.Errorf("send: %w", &PeerError{Peer: 3, Err: reason})
		if !errors.Is(err, ErrPeer) || !errors.Is(err, reason) || errors.Is(err, ErrClosed) {
			t.Errorf("%v", err)
		}
	}
	if err := error(&PeerError{Peer: 3, Err: ErrClosed}); errors.Is(err, ErrPeer) || !errors.Is(err, ErrClosed) {
		t.Errorf("%v", err)
	}
}
