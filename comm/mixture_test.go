package comm

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/am/rma"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/progress"
)

// TestWaitForAMixture: one call waits for a receive, an operation of the layer above and one on remote memory. It waits
// for any of them, or for all.
func TestWaitForAMixture(t *testing.T) {
	j := newJob(t, 2, conduit.Config{}, Config{})
	ms := make([]*rma.Memory, len(j))
	for i, s := range j {
		var err error
		if ms[i], err = rma.New(s.Endpoint(), rma.Config{SegmentSize: 64, ActiveMessages: true}); err != nil {
			t.Fatal(err)
		}
		defer ms[i].Close()
	}
	j.run(t, func(s *Server) error {
		if s.Rank() == 0 {
			return mixture(s, ms[0])
		}
		for round := range 2 { // as a peer that takes part in nothing but the messages
			if _, err := s.Recv(1, 0, round, nil, nil); err != nil {
				return err
			}
			if err := s.Send(1, 0, 10+round, []byte("hello"), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func mixture(s *Server, m *rma.Memory) error {
	if _, err := m.SegmentSize(1); err != nil {
		return err
	}
	e := s.Endpoint().Progress()
	for round, wait := range []func(*progress.Engine, []*progress.Done){(*progress.Engine).WaitAll, (*progress.Engine).WaitAny} {
		got, call := make([]byte, 5), newTestCall(s)
		recv, err := s.Irecv(1, 1, 10+round, got, nil)
		if err != nil {
			return err
		}
		put, err := m.PutNB(1, 0, []byte("world"))
		if err != nil {
			return err
		}
		pending := func() []*progress.Done { return []*progress.Done{recv.Pending(), call.Pending(), put.Pending()} }
		for _, d := range pending() {
			if d == nil {
				return errors.New("done before anybody has polled")
			}
		}
		if err := s.Send(1, 1, round, nil, nil); err != nil {
			return err
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			s.EndCall(call, nil, nil)
		}()
		for waits, left := 0, 3; left > 0; waits++ {
			wait(e, pending())
			before := left
			left = 0
			for _, d := range pending() {
				if d != nil {
					left++
				}
			}
			if left == before || round == 0 && left > 0 {
				return fmt.Errorf("round %d, wait %d: %d are pending, before %d", round, waits, left, before)
			}
		}
		<-ended
		_, e1 := s.Wait(recv)
		_, e2 := s.Wait(call)
		_, e3 := put.Test()
		if err := errors.Join(e1, e2, e3); err != nil || string(got) != "hello" {
			return fmt.Errorf("%q, %w", got, err)
		}
	}
	return nil
}
