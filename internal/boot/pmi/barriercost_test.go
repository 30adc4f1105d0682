package pmi

import (
	"slices"
	"testing"
	"time"
)

// fenceTime is how long the server takes for a message of a barrier of so many ranks, the best of several.
func fenceTime(t *testing.T, ranks int) time.Duration {
	t.Helper()
	s, err := NewServer(Config{Size: ranks, KVSName: "kvs"})
	if err != nil {
		t.Fatal(err)
	}
	for r := range ranks {
		s.Handle(r, []byte("cmd=init pmi_version=1 pmi_subversion=1\n"))
	}
	line := []byte("cmd=barrier_in\n")
	var took []time.Duration
	for range 3 {
		begun := time.Now()
		for r := range ranks - 1 {
			if out := s.Handle(r, line); len(out) > 0 {
				t.Fatalf("rank %d is answered %v", r, out)
			}
		}
		took = append(took, time.Since(begun)/time.Duration(ranks))
		if out := s.Handle(ranks-1, line); len(out) != ranks {
			t.Fatalf("%d of %d ranks are let out", len(out), ranks)
		}
	}
	return slices.Min(took)
}

// TestBarrierCostsNoLookAtAllRanks: a rank's message costs the server the same in a large job as in a small one. A look
// at each rank's state would make it 64 times as dear.
func TestBarrierCostsNoLookAtAllRanks(t *testing.T) {
	small, large := fenceTime(t, 1_000), fenceTime(t, 64_000)
	t.Logf("%v a message with 1,000 ranks, %v with 64,000", small, large)
	if large > 8*small+time.Microsecond {
		t.Errorf("%v a message with 1,000 ranks, %v with 64,000", small, large)
	}
}
