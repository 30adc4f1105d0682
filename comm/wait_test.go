package comm

import (
	stdcontext "context"
	"errors"
	"testing"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/test/fault"
	"github.com/golci/golci/internal/test/inside"
	"github.com/golci/golci/internal/transport/local"
)

// TestOthersGoOnAfterAFailure: the death of a peer ends the receives that name it, and no others.
func TestOthersGoOnAfterAFailure(t *testing.T) {
	cs, err := local.New(3, conduit.Config{})
	if err != nil {
		t.Fatal(err)
	}
	cut := fault.New(cs[0], fault.Config{})
	cs[0] = cut
	j := jobOver(t, cs, Config{})
	receive := func(src, tag int) Req {
		r, err := j[0].Irecv(1, src, tag, make([]byte, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	dies, lives, any := receive(1, 5), receive(2, 5), receive(AnySource, 6)
	send, err := j[0].Isend(1, 2, 7, make([]byte, 1), &Options{Form: Nonblocking, Mode: Synchronous})
	if err != nil {
		t.Fatal(err)
	}
	cut.Cut(1)
	if _, err := j[0].Wait(dies); !errors.Is(err, ErrPeer) {
		t.Errorf("receive from the dead rank: %v", err)
	}
	if lives.Ready() || any.Ready() || send.Ready() {
		t.Fatalf("ended with a rank that they do not name: receive %v, wildcard %v, send %v", lives.Ready(), any.Ready(), send.Ready())
	}
	for tag := 5; tag <= 6; tag++ {
		if err := j[2].Send(1, 0, tag, []byte{byte(tag)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := j[2].Irecv(1, 0, 7, make([]byte, 1), nil); err != nil {
		t.Fatal(err)
	}
	for what, r := range map[string]Req{"receive": lives, "wildcard": any, "send": send} {
		until(t, what, r.Ready, j[0], j[2])
		if _, err := j[0].Wait(r); err != nil {
			t.Errorf("%s with a rank that lives: %v", what, err)
		}
	}
}

// TestAwaitAllOrContextWaits: it returns when the last operation is done, and not before.
func TestAwaitAllOrContextWaits(t *testing.T) {
	const n = 3
	j := newJob(t, 2, conduit.Config{}, Config{})
	for last := range n {
		var rs []Req
		for tag := range n {
			r, err := j[1].Irecv(1, 0, tag, make([]byte, 1), nil)
			if err != nil {
				t.Fatal(err)
			}
			rs = append(rs, r)
		}
		ctx, cancel := stdcontext.WithCancel(t.Context())
		var err error
		waits, ended := inside.Waits("progress.(*Engine).WaitAny", func() { err = j[1].AwaitAll(rs, ctx) })
		if !waits {
			t.Fatalf("it did not wait: %v", err)
		}
		for tag := range n {
			if tag == last {
				continue
			}
			if err := j[0].Send(1, 1, tag, []byte{1}, nil); err != nil {
				t.Fatal(err)
			}
			until(t, "a message comes", rs[tag].Ready, j[0])
		}
		select {
		case <-ended:
			t.Errorf("it came back before operation %d: %v", last, err)
		default:
		}
		if err := j[0].Send(1, 1, last, []byte{1}, nil); err != nil {
			t.Fatal(err)
		}
		if <-ended; err != nil {
			t.Error(err)
		}
		for i, r := range rs {
			if _, ok, err := j[1].Test(r); !ok || err != nil {
				t.Errorf("operation %d: done %v, %v", i, ok, err)
			}
		}
		cancel()
	}
}

// TestProbersLeave: probes that have ended, by a message or by their context, are not listed any more.
func TestProbersLeave(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	for round := range 4 {
		ctx, cancel := stdcontext.WithCancel(t.Context())
		var err error
		_, ended := inside.Waits("progress.(*Engine).Wait", func() {
			_, err = j[1].ProbeContext(ctx, "Probe", 1, 0, round)
		})
		if round%2 == 0 {
			cancel()
		} else if err := j[0].Send(1, 1, round, nil, nil); err != nil {
			t.Fatal(err)
		}
		<-ended
		if errors.Is(err, ErrCancelled) != (round%2 == 0) {
			t.Errorf("round %d: %v", round, err)
		}
		cancel()
		j[1].probes.mu.Lock()
		if n := len(j[1].probes.list); n != 0 || j[1].probes.n.Load() != 0 {
			t.Errorf("round %d: %d probes are listed, %d count", round, n, j[1].probes.n.Load())
		}
		j[1].probes.mu.Unlock()
	}
}
