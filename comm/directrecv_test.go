package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

// TestTake: receives that take their message get the right one, in any order of their calls. The message of another
// receive is left. A message that is too long is an error.
func TestTake(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	a, z := j[0], j[1]
	for round := range 100 { // more than are taken in a row
		for tag := range 4 {
			if err := a.Send(1, 1, tag, []byte{byte(round), byte(tag), 9}[:3], nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, tag := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}}[round%3] {
			b := make([]byte, 8)
			r, n, err := z.TryRecvThenPost(1, 0, tag, b, true, nil, nil)
			if err != nil || !r.Null() || n != 3 || b[0] != byte(round) || b[1] != byte(tag) {
				t.Fatalf("round %d, tag %d: %d bytes %v, %v, pending %v", round, tag, n, b, err, !r.Null())
			}
		}
	}
	if err := a.Send(1, 1, 5, make([]byte, 9), nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := z.TryRecvThenPost(1, 0, 5, make([]byte, 8), true, nil, nil); !errors.Is(err, ErrTruncate) {
		t.Errorf("a message that is too long: %v", err)
	}
	if _, _, err := z.TryRecvThenPost(1, 7, 5, nil, true, nil, nil); !errors.Is(err, ErrRank) {
		t.Errorf("a rank that is none: %v", err)
	}
}

// TestTakeNeedsNoReceive: a message that is there is taken from the conduit: the table never holds its receive, and a
// poll finds nothing of it. One in takenInRow goes the other way.
func TestTakeNeedsNoReceive(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector would not understand the look at the ring, so nothing is taken")
	}
	j := newJob(t, 2, conduit.Config{}, Config{})
	taken := 0
	for i := range 64 {
		if err := j[0].Send(1, 1, i, []byte{byte(i)}, nil); err != nil {
			t.Fatal(err)
		}
		b := []byte{0}
		if n, ok := j[1].tryRecvDirect(1, 0, i, b); ok {
			if taken++; n != 1 || b[0] != byte(i) {
				t.Fatalf("message %d: %d bytes %v", i, n, b)
			}
			continue
		}
		if _, err := j[1].Recv(1, 0, i, b, nil); err != nil || b[0] != byte(i) {
			t.Fatalf("message %d: %v, %v", i, b, err)
		}
	}
	if taken != 60 {
		t.Errorf("%d of 64 messages were taken, want 60", taken)
	}
}

// TestTakeWaitsForItsTurn: while a message of the sender waits unmatched, or one before has not come, nothing is taken.
func TestTakeWaitsForItsTurn(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	for tag := range 2 {
		if err := j[0].Send(1, 1, tag, []byte{byte(tag)}, nil); err != nil {
			t.Fatal(err)
		}
		if tag == 0 {
			j[1].Poll()
		}
	}
	if _, ok := j[1].tryRecvDirect(1, 0, 1, make([]byte, 1)); ok {
		t.Error("taken beside a message that waits")
	}
	p := &j[1].peers[0]
	p.expect--
	if j[1].takeTurn(0, p.expect+1) {
		t.Error("taken before its turn")
	}
	p.holds = true
	if j[1].takeTurn(0, p.expect) {
		t.Error("taken while others are held")
	}
	p.holds = false
	if !j[1].takeTurn(0, p.expect) {
		t.Error("not taken in its turn")
	}
}
