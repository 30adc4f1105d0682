package comm

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
)

// TestNothingBlocksInAHandler: what would wait for its own poll is refused instead.
func TestNothingBlocksInAHandler(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	s, buf := j[1], make([]byte, 8)
	got := make(map[string]error)
	done := false
	spec := am.Spec{Name: "blocks", MaxReply: am.NoReply, Run: func(*am.Token, []uint64, []byte) {
		_, got["Recv"] = s.Recv(0, 0, 1, buf, nil)
		_, got["Recv by Alloc"] = s.Recv(0, 0, 1, nil, &Options{Alloc: func(n int) []byte { return make([]byte, n) }})
		_, got["Recv into a Target"] = s.Recv(0, 0, 1, nil, &Options{Target: whole(buf)})
		got["Send from a Source"] = s.Send(0, 0, 1, nil, &Options{Source: whole(buf), Mode: Synchronous})
		got["Send"] = s.Send(0, 0, 1, buf, &Options{Mode: Synchronous})
		_, got["Probe"] = s.Probe(0, 0, 1)
		r, err := s.Irecv(0, 0, 1, buf, nil)
		if err != nil {
			t.Errorf("a receive that does not wait: %v", err)
		}
		_, got["Wait"] = s.Wait(r)
		got["AwaitAll"] = s.AwaitAll([]Req{r})
		s.Cancel(r)
		done = true
	}}
	for _, x := range j {
		if err := x.Endpoint().Register(1, spec); err != nil {
			t.Fatal(err)
		}
	}
	if err := j[0].Endpoint().RequestShort(1, 1); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !done && time.Now().Before(end); {
		s.Poll()
	}
	if len(got) != 8 {
		t.Fatalf("the handler did not run to its end: %v", got)
	}
	for what, err := range got {
		if !errors.Is(err, am.ErrContext) {
			t.Errorf("%s in a handler: %v", what, err)
		}
	}
}
