package agree

import (
	"testing"
	"time"
)

// collect is how long the coordinator of so many ranks takes for the votes and locks of all, in order, by message.
func collect(t *testing.T, ranks int) time.Duration {
	t.Helper()
	s, none := New(0, ranks), NewSet(ranks)
	if _, err := s.Call(1, none); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	sent := 0
	for _, kind := range []Kind{Vote, Ack} {
		for r := 1; r < ranks; r++ {
			m := Message{Kind: kind, Round: 0}
			if kind == Vote {
				m.Value = Value{Flag: 1, Failed: none, Acked: none}
			}
			out, err := s.Step(r, m)
			if err != nil {
				t.Fatal(err)
			}
			sent += len(out)
		}
	}
	if want := 2*(ranks-1) + 1; sent != want { // a proposal and a decision for each, and the caller's
		t.Fatalf("%d messages of the coordinator, want %d", sent, want)
	}
	return time.Since(begun) / time.Duration(2*ranks)
}

// TestMessagesCostNoLookAtAllRanks: a message costs the coordinator the same whatever the number of ranks, but for the
// sets that it carries.
func TestMessagesCostNoLookAtAllRanks(t *testing.T) {
	collect(t, 1_000) // the first one makes the memory
	small, large := collect(t, 1_000), collect(t, 16_000)
	t.Logf("%v a message with 1,000 ranks, %v with 16,000", small, large)
	if large > 4*small+2*time.Microsecond {
		t.Errorf("%v a message with 1,000 ranks, %v with 16,000", small, large)
	}
}
