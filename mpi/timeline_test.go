package mpi_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/golci/golci/internal/observe/trace"
	"github.com/golci/golci/internal/test/tracetest"
	"github.com/golci/golci/mpi"
)

// wait is the begin of a span of a timeline.
type wait struct {
	Phase string  `json:"ph"`
	Rank  int     `json:"pid"`
	Time  float64 `json:"ts"`
	Name  string  `json:"name"`
	Cat   string  `json:"cat"`
	ID    string  `json:"id"`
	Args  struct {
		Peer *int `json:"peer"`
		Tag  *int `json:"tag"`
	}
}

// Ways to wait, by the tags of what they wait for.
const (
	byThread = 7 + iota
	byAny
	byGoroutine
	byRequest
	byBarrier

	ways = iota
	ask  = 1 // the tag by which rank 0 asks for the message that it will wait for
)

// waitFor has rank 0 wait for rank 1 in one of the ways.
func waitFor(c *mpi.Comm, tag int) error {
	buf := make([]int64, 1)
	from := 1
	switch tag {
	case byBarrier: // of a goroutine, which does not poll for a while before it waits, with GOLCI_SPIN of 0
		done := make(chan error)
		go func() { done <- c.Barrier() }()
		return <-done
	case byRequest:
		r, err := mpi.Irecv(c, buf, 1, tag)
		if err != nil {
			return err
		}
		_, err = r.Wait()
		return err
	case byGoroutine:
		done := make(chan error)
		go func() {
			_, err := mpi.Recv(c, buf, 1, tag)
			done <- err
		}()
		return <-done
	case byAny:
		from = mpi.AnySource
	}
	_, err := mpi.Recv(c, buf, from, tag)
	return err
}

// TestTimelineOfWaits: what blocks a rank is on its timeline, with peer and tag as far as the call names them, from
// goroutines and from threads. Rank 1 answers when it has heard that rank 0 is about to wait. Of so many answers some
// come later than the call.
func TestTimelineOfWaits(t *testing.T) {
	dir := t.TempDir()
	const rounds = 50
	err := mpi.Run(2, func(c *mpi.Comm) error {
		buf := make([]int64, 1)
		for i := range rounds * ways {
			tag := byThread + i%ways
			var err error
			if c.Rank() == 0 {
				err = errors.Join(mpi.Send(c, buf, 1, ask), waitFor(c, tag))
			} else if _, err = mpi.Recv(c, buf, 0, ask); err == nil && tag == byBarrier {
				err = c.Barrier()
			} else if err == nil {
				err = mpi.Send(c, buf, 0, tag)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, mpi.With("GOLCI_TRACE", filepath.Join(dir, "%r.part")), mpi.With("GOLCI_SPIN", "0s"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := trace.Write(&b, []string{filepath.Join(dir, "0.part"), filepath.Join(dir, "1.part")}); err != nil {
		t.Fatal(err)
	}
	tracetest.Valid(t, b.Bytes())
	var timeline struct {
		Events []wait `json:"traceEvents"`
	}
	if err := json.Unmarshal(b.Bytes(), &timeline); err != nil {
		t.Fatal(err)
	}
	count, heard := map[int]int{}, map[int]int{}
	for _, e := range timeline.Events {
		if e.Phase == "b" && e.Cat == "wait" && e.Rank == 0 {
			if count[e.way()]++; e.way() < 0 {
				t.Errorf("a wait that nobody made: %+v", e)
			}
			if e.heard(timeline.Events) {
				heard[e.way()]++
			}
		}
	}
	for tag := byThread; tag <= byBarrier; tag++ {
		if heard[tag] == 0 {
			t.Errorf("no message has come during the %d waits in way %d", count[tag], tag)
		}
		most := rounds
		if tag == byBarrier {
			most += 10 // the ranks make a shared segment, once; on a busy machine each message may be waited for
		}
		if n := count[tag]; n == 0 || n > most {
			t.Errorf("%d waits in way %d, want some, and %d at most", n, tag, most)
		}
	}
}

// way is the way to wait that e shows: 0 for a send of ask and for the end, -1 for what the test does not do.
func (e *wait) way() int {
	peer, tag := e.Args.Peer, e.Args.Tag
	switch {
	case e.Name == "Barrier" && peer != nil && *peer == 1:
		return byBarrier
	case e.Name == "Finalize" && peer != nil && *peer == 1 && tag == nil:
		return 0
	case e.Name == "receive" && peer == nil && tag == nil:
		return byAny
	case peer == nil || *peer != 1 || tag == nil:
	case e.Name == "send" && *tag == ask:
		return 0
	case e.Name == "receive" && *tag >= byThread && *tag < byBarrier && *tag != byAny:
		return *tag
	}
	return -1
}

// heard tells whether a message has come during e.
func (e *wait) heard(events []wait) bool {
	end := e.Time
	for i := range events {
		if x := &events[i]; x.Phase == "e" && x.ID == e.ID {
			end = x.Time
		}
	}
	for i := range events {
		if x := &events[i]; x.Phase == "f" && x.Rank == e.Rank && e.Time <= x.Time && x.Time <= end {
			return true
		}
	}
	return false
}
