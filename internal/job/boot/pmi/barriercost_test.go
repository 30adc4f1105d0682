package pmi

import "testing"

// initialized is the server of a job whose ranks all have begun.
func initialized(t *testing.T, ranks int) *Server {
	t.Helper()
	s, err := NewServer(Config{Size: ranks, KVSName: "kvs"})
	if err != nil {
		t.Fatal(err)
	}
	for r := range ranks {
		s.Handle(r, []byte("cmd=init pmi_version=1 pmi_subversion=1\n"))
	}
	return s
}

// looksUpTo fails if what do does to a server takes more than so many looks at states for each rank.
func looksUpTo(t *testing.T, s *Server, what string, each int, do func()) {
	t.Helper()
	before := s.states.looks
	do()
	if got, most := s.states.looks-before, each*s.cfg.Size; got > most {
		t.Errorf("%s of %d ranks: %d looks at states of ranks, want up to %d", what, s.cfg.Size, got, most)
	}
}

// TestBarrierCostsNoLookAtAllRanks: the messages of a barrier cost a few looks for each rank together, not for each
// message. Those of the start and of the end do, too.
func TestBarrierCostsNoLookAtAllRanks(t *testing.T) {
	for _, ranks := range []int{1, 2, 100, 3_000} {
		s := initialized(t, ranks)
		in := []byte("cmd=barrier_in\n")
		looksUpTo(t, s, "a barrier", 6, func() {
			for r := range ranks - 1 {
				if out := s.Handle(r, in); len(out) > 0 {
					t.Fatalf("rank %d is answered %v", r, out)
				}
			}
			if out := s.Handle(ranks-1, in); len(out) != ranks {
				t.Fatalf("%d of %d ranks are let out", len(out), ranks)
			}
		})
		looksUpTo(t, s, "puts and gets", 2, func() {
			for r := range ranks {
				s.Handle(r, []byte("cmd=put kvsname=kvs key=a value=b\n"))
				s.Handle(r, []byte("cmd=get kvsname=kvs key=a\n"))
			}
		})
		looksUpTo(t, s, "the end", 6, func() {
			for r := range ranks {
				if out := s.Handle(r, []byte("cmd=finalize\n")); len(out) != 1 {
					t.Fatalf("rank %d that ends is answered %v", r, out)
				}
				s.Gone(r)
			}
		})
	}
}

// TestDeathCostsNoLookAtAllRanks: a rank that ends while others wait costs as much as a barrier. Each that comes later
// costs a few looks.
func TestDeathCostsNoLookAtAllRanks(t *testing.T) {
	const ranks = 3_000
	s := initialized(t, ranks)
	looksUpTo(t, s, "a barrier that fails", 12, func() {
		for r := range ranks / 2 {
			s.Handle(r, []byte("cmd=barrier_in\n"))
		}
		if out := s.Gone(ranks - 1); len(out) != 1+ranks/2 {
			t.Fatalf("%d actions, want the failure and an answer for each who waits", len(out))
		}
		for r := ranks / 2; r < ranks-1; r++ {
			if out := s.Handle(r, []byte("cmd=barrier_in\n")); len(out) != 2 {
				t.Fatalf("%v, want the failure and an answer", out)
			}
		}
	})
}
