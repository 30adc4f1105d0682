package comm

import (
	"errors"
	"testing"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/hashtable"
)

// kept counts the messages of a context that s keeps for receives to come.
func kept(s *Server, ctx uint16) (n int) {
	s.matching.eachWaiting(func(c uint16, side hashtable.Side, _ match.Pattern, _ *op) {
		if c == ctx && side == hashtable.Arrive {
			n++
		}
	})
	return n
}

// startAll starts in ctx three messages that travel whole and an envelope from rank 0 to rank 1.
func startAll(t *testing.T, j job, ctx uint16) (envelope Req) {
	t.Helper()
	for tag := range 3 {
		if err := j[0].Send(ctx, 1, tag, []byte{byte(ctx), byte(tag)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	envelope, err := j[0].Isend(ctx, 1, 3, []byte{byte(ctx), 3}, &Options{Form: Nonblocking, Mode: Synchronous})
	if err != nil {
		t.Fatal(err)
	}
	return envelope
}

// wantAll receives what startAll has started.
func wantAll(t *testing.T, j job, ctx uint16, envelope Req) {
	t.Helper()
	for tag := range 4 {
		b := make([]byte, 2)
		r, err := j[1].Irecv(ctx, 0, tag, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "a message of a context in use comes", r.Ready, j...)
		if _, err := j[1].Wait(r); err != nil || b[0] != byte(ctx) || b[1] != byte(tag) {
			t.Errorf("context %d, tag %d: got %v, %v", ctx, tag, b, err)
		}
	}
	until(t, "the receiver answers", envelope.Ready, j...)
	if _, err := j[0].Wait(envelope); err != nil {
		t.Errorf("context %d: synchronous send: %v", ctx, err)
	}
}

// wantCancelled waits for operations of a retired context.
func wantCancelled(t *testing.T, j job, s *Server, r Req) {
	t.Helper()
	until(t, "the operation ends", r.Ready, j...)
	if _, err := s.Wait(r); !errors.Is(err, ErrCancelled) {
		t.Errorf("rank %d: %v", s.rank, err)
	}
}

// TestRetire: a retired context loses what it had, and takes nothing that comes; other contexts keep theirs, and take
// what comes.
func TestRetire(t *testing.T) {
	const gone, stays, later = 7, 8, 9
	j := newJob(t, 2, conduit.Config{}, Config{})
	receives := map[uint16]Req{}
	envelopes := map[uint16]Req{}
	for _, ctx := range []uint16{gone, stays} {
		r, err := j[1].Irecv(ctx, 0, 50, make([]byte, 2), nil)
		if err != nil {
			t.Fatal(err)
		}
		receives[ctx], envelopes[ctx] = r, startAll(t, j, ctx)
		until(t, "all messages have come", func() bool { return kept(j[1], ctx) == 4 }, j...)
	}
	mine, err := j[1].Isend(gone, 0, 60, make([]byte, 2), &Options{Form: Nonblocking, Mode: Synchronous})
	if err != nil {
		t.Fatal(err)
	}
	if left := j[1].Retire(gone); left != (RetiredCounts{Receives: 1, Sends: 1, Messages: 4}) {
		t.Errorf("left: %+v", left)
	}
	wantCancelled(t, j, j[1], receives[gone])
	wantCancelled(t, j, j[0], envelopes[gone])

	refused := startAll(t, j, gone)
	envelopes[later] = startAll(t, j, later)
	wantCancelled(t, j, j[0], refused)
	until(t, "what came after that is kept", func() bool { return kept(j[1], later) == 4 }, j...)
	if n := kept(j[1], gone); n != 0 {
		t.Errorf("%d messages of a retired context are kept", n)
	}
	wantAll(t, j, stays, envelopes[stays])
	wantAll(t, j, later, envelopes[later])
	if err := j[0].Send(stays, 1, 50, []byte{1, 2}, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "a receive of another context goes on", receives[stays].Ready, j...)
	if _, err := j[1].Wait(receives[stays]); err != nil {
		t.Error(err)
	}

	j[1].Reopen(gone)
	wantAll(t, j, gone, startAll(t, j, gone))
	if st := wantReceived(t, j, gone, 60); st.Source != 1 {
		t.Errorf("got %+v", st)
	}
	if _, err := j[1].Wait(mine); err != nil {
		t.Errorf("a send that was left over: %v", err)
	}
	if n := j[1].peers[0].unexpected.Load(); n != 0 {
		t.Errorf("%d bytes count as not received, of none", n)
	}
	for _, s := range j {
		if n := s.ids.Used(); n != 0 {
			t.Errorf("rank %d: %d numbers are left", s.rank, n)
		}
	}
}

// wantReceived receives a message of rank 1 at rank 0.
func wantReceived(t *testing.T, j job, ctx uint16, tag int) Status {
	t.Helper()
	r, err := j[0].Irecv(ctx, 1, tag, make([]byte, 2), nil)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the message comes", r.Ready, j...)
	st, err := j[0].Wait(r)
	if err != nil {
		t.Error(err)
	}
	return st
}

// TestEmptyRendezvous: a rendezvous without bytes, or into a buffer without room, leaves no number behind.
func TestEmptyRendezvous(t *testing.T) {
	for _, x := range []struct{ size, room int }{{0, 0}, {0, 8}, {8, 0}, {vast, 0}} {
		j := newJob(t, 2, conduit.Config{}, Config{})
		r, err := j[0].Isend(1, 1, 5, make([]byte, x.size), &Options{Form: Nonblocking, Mode: Synchronous})
		if err != nil {
			t.Fatal(err)
		}
		w, err := j[1].Irecv(1, 0, 5, make([]byte, x.room), nil)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "both are done", func() bool { return r.Ready() && w.Ready() }, j...)
		if _, err := j[0].Wait(r); err != nil {
			t.Errorf("%+v: send: %v", x, err)
		}
		if _, err := j[1].Wait(w); errors.Is(err, ErrTruncate) != (x.size > x.room) {
			t.Errorf("%+v: receive: %v", x, err)
		}
		for _, s := range j {
			if n := s.ids.Used(); n != 0 {
				t.Errorf("%+v: rank %d: %d numbers are left", x, s.rank, n)
			}
		}
	}
}

// TestTypedBehindOthers: sends with a signature that have to queue arrive as they are, with their signature.
func TestTypedBehindOthers(t *testing.T) {
	const signature, other, more = 77, 78, 20
	j := newJob(t, 2, conduit.Config{}, Config{})
	queued := bringQueued(t, j)
	type sent struct {
		r    Req
		data []byte
	}
	var all []sent
	for i := range more {
		data := make([]byte, 1+i*13)
		pattern(data, i)
		r, err := j[0].Isend(2, 1, i, data, &Options{Mode: []Mode{Standard, Synchronous}[i%2], Signature: signature})
		if err != nil {
			t.Fatal(err)
		}
		if r.Ready() {
			t.Fatalf("message %d did not queue", i)
		}
		all = append(all, sent{r, data})
	}
	for i, x := range all {
		b := make([]byte, len(x.data))
		terms, want := Options{Signature: signature}, error(nil)
		if i%5 == 4 {
			terms.Signature, want = other, ErrType
		}
		r, err := j[1].Irecv(2, 0, i, b, &terms)
		if err != nil {
			t.Fatal(err)
		}
		until(t, "the message comes", func() bool { return r.Ready() && x.r.Ready() }, j...)
		if _, err := j[1].Wait(r); !errors.Is(err, want) {
			t.Errorf("message %d: %v, want %v", i, err, want)
		}
		if want == nil {
			if err := checkPattern(b, i); err != nil {
				t.Errorf("message %d: %v", i, err)
			}
		}
		if _, err := j[0].Wait(x.r); err != nil {
			t.Errorf("send %d: %v", i, err)
		}
	}
	for _, r := range queued {
		until(t, "what was before them is gone, too", r.Ready, j...)
		if _, err := j[0].Wait(r); err != nil {
			t.Error(err)
		}
	}
}
