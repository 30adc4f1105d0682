package mpi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/golci/golci/mpi"
)

// wait is the begin of a span of a timeline.
type wait struct {
	Phase string `json:"ph"`
	Rank  int    `json:"pid"`
	Name  string `json:"name"`
	Cat   string `json:"cat"`
	Args  struct {
		Peer *int `json:"peer"`
		Tag  *int `json:"tag"`
	}
}

// TestTimelineOfWaits: what blocks a rank is on its timeline, with peer and tag as far as the call names them, from
// goroutines and from threads.
func TestTimelineOfWaits(t *testing.T) {
	dir := t.TempDir()
	const tag = 7
	err := mpi.Run(2, func(c *mpi.Comm) error {
		buf := make([]int64, 1)
		if c.Rank() == 1 {
			for range 4 {
				time.Sleep(2 * time.Millisecond)
				if err := mpi.Send(c, buf, 0, tag); err != nil {
					return err
				}
			}
			time.Sleep(2 * time.Millisecond)
			return c.Barrier()
		}
		if _, err := mpi.Recv(c, buf, 1, tag); err != nil {
			return err
		}
		if _, err := mpi.Recv(c, buf, mpi.AnySource, tag); err != nil {
			return err
		}
		done := make(chan error, 1)
		if _, err := c.Proc().Go(func() {
			_, err := mpi.Recv(c, buf, 1, tag)
			done <- err
		}); err != nil {
			return err
		}
		if err := <-done; err != nil {
			return err
		}
		r, err := mpi.Irecv(c, buf, 1, tag)
		if err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		return c.Barrier()
	}, mpi.With("GOLCI_TRACE", filepath.Join(dir, "%r.json")))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "0.json"))
	if err != nil {
		t.Fatal(err)
	}
	var timeline struct {
		Events []wait `json:"traceEvents"`
	}
	if err := json.NewDecoder(bytes.NewReader(b)).Decode(&timeline); err != nil {
		t.Fatal(err)
	}
	is := func(p *int, want int) bool { return p != nil && *p == want }
	named, wild, barrier := 0, 0, 0
	for _, e := range timeline.Events {
		switch {
		case e.Phase != "b" || e.Cat != "wait":
		case e.Name == "receive" && is(e.Args.Peer, 1) && is(e.Args.Tag, tag):
			named++
		case e.Name == "receive" && e.Args.Peer == nil:
			wild++
		case e.Name == "Barrier" && is(e.Args.Peer, 1):
			barrier++
		}
	}
	if named != 3 || wild != 1 || barrier == 0 {
		t.Errorf("%d waits for rank 1, %d for any, %d in the barrier, want 3, 1 and some", named, wild, barrier)
	}
}
