package comm

import (
	"bytes"
	"slices"
	"testing"

	"github.com/golci/golci/comm/conduit"
)

// reaching is a conduit that notes how much of each message it was asked to get.
type reaching struct {
	conduit.Conduit
	conduit.Remote
	gets []int
}

// Get implements conduit.Remote.
func (r *reaching) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	r.gets = append(r.gets, len(dst))
	return r.Remote.Get(peer, dst, k, off, c)
}

// TestExchanged: large messages go in halves where many are under way both ways, and where none goes the other way.
func TestExchanged(t *testing.T) {
	for _, c := range []struct {
		n      int64
		offers int32
		alone  bool
	}{
		{64 << 10, 0, false},
		{64 << 10, 1, true},
		{64 << 10, 64, true},
		{256 << 10, 64, true},
		{256<<10 + 1, 64, false},
		{1 << 20, 0, false},
		{1 << 20, 1, true},
		{1 << 20, 4, true},
		{1 << 20, 5, false},
		{1<<20 + 1, 1, false},
	} {
		if exchanged(c.n, c.offers) != c.alone {
			t.Errorf("%d bytes with %d offers: alone is %v", c.n, c.offers, !c.alone)
		}
	}
}

// TestWhoCopies: a message one way is copied by both ranks, half each. Where both send, and where the receiver asks for
// it, each receiver copies what it gets.
func TestWhoCopies(t *testing.T) {
	const size = 256 << 10
	cs := shmConduits(t, 2)
	rs := [2]*reaching{}
	for i, c := range cs {
		rs[i] = &reaching{Conduit: c, Remote: c.(conduit.Remote)}
		cs[i] = rs[i]
	}
	j := jobOver(t, cs, Config{})
	if !canCopy(j[0]) {
		t.Skip("the kernel does not let one process reach another's memory here")
	}
	for _, c := range []struct{ both, alone bool }{{false, false}, {true, false}, {false, true}} {
		both := c.both
		var out, in [2][]byte
		var reqs [2][]Req
		start := func(s *Server, send bool) {
			me := s.Rank()
			var r Req
			var err error
			if send {
				out[me] = make([]byte, size)
				pattern(out[me], me)
				r, err = s.Isend(1, 1-me, 1, out[me], Standard)
			} else {
				in[me] = make([]byte, size)
				r, err = s.IrecvWith(1, 1-me, 1, in[me], nil, Terms{Alone: c.alone})
			}
			if err != nil {
				t.Fatal(err)
			}
			reqs[me] = append(reqs[me], r)
		}
		receivers := j[1:]
		if both {
			receivers = j
		}
		for _, s := range receivers {
			rs[s.Rank()].gets = nil
			start(j[1-s.Rank()], true)
		}
		for _, s := range receivers {
			start(s, false)
			for len(rs[s.Rank()].gets) == 0 {
				s.Poll()
			}
		}
		for _, s := range receivers {
			want := []int{size / 2}
			if both || c.alone {
				want = []int{size}
			}
			if got := rs[s.Rank()].gets; !slices.Equal(got, want) {
				t.Errorf("%+v: rank %d gets %d bytes, want %d", c, s.Rank(), got, want)
			}
		}
		for left := true; left; {
			left = false
			for _, s := range j {
				s.Poll()
				for _, r := range reqs[s.Rank()] {
					left = left || !r.Ready()
				}
			}
		}
		for _, s := range j {
			for _, r := range reqs[s.Rank()] {
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
