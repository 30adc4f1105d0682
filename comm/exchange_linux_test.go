package comm

import (
	"bytes"
	"testing"

	"github.com/golci/golci/comm/conduit"
)

// TestWhoCopies: a message one way is copied by both ranks, half each. Where both send, and where the receiver asks for
// it, each receiver copies what it gets.
func TestWhoCopies(t *testing.T) {
	j := shmJob(t, 2)
	if d, ok := j[0].e.Conduit().(conduit.Direct); !ok || !d.DirectTo(1) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	for _, c := range []struct{ both, alone bool }{{false, false}, {true, false}, {false, true}} {
		both := c.both
		var out, in [2][]byte
		var rs [2][]Req
		start := func(s *Server, send bool) {
			me := s.Rank()
			var r Req
			var err error
			if send {
				out[me] = make([]byte, 256<<10)
				pattern(out[me], me)
				r, err = s.Isend(1, 1-me, 1, out[me], Standard)
			} else {
				in[me] = make([]byte, 256<<10)
				r, err = s.IrecvWith(1, 1-me, 1, in[me], nil, Terms{Alone: c.alone})
			}
			if err != nil {
				t.Fatal(err)
			}
			rs[me] = append(rs[me], r)
		}
		receivers := j[1:]
		if both {
			receivers = j
		}
		for _, s := range receivers {
			s.copies.active.Lock() // nothing is copied yet
			start(j[1-s.Rank()], true)
		}
		for _, s := range receivers {
			start(s, false)
			for s.copies.busy.Load() == 0 {
				s.Poll()
			}
		}
		for _, s := range receivers {
			if whole := s.copies.list[0].whole; whole != (both || c.alone) {
				t.Errorf("%+v: rank %d copies all: %v", c, s.Rank(), whole)
			}
			s.copies.active.Unlock()
		}
		for left := true; left; {
			left = false
			for _, s := range j {
				s.Poll()
				for _, r := range rs[s.Rank()] {
					left = left || !r.Ready()
				}
			}
		}
		for _, s := range j {
			for _, r := range rs[s.Rank()] {
				if _, err := s.Wait(r); err != nil {
					t.Error(err)
				}
			}
			if n := s.peers[1-s.Rank()].offers.Load(); n != 0 {
				t.Errorf("%+v: rank %d has %d offers left", c, s.Rank(), n)
			}
		}
		for _, s := range receivers {
			if !bytes.Equal(in[s.Rank()], out[1-s.Rank()]) {
				t.Errorf("%+v: rank %d has got other bytes", c, s.Rank())
			}
		}
	}
}
