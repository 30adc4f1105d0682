package match

import "testing"

// TestTurns: a turn that is left out is given to nobody, wherever it lies; one that has passed stays what it was.
func TestTurns(t *testing.T) {
	var s Turns
	take := func(want uint64) {
		t.Helper()
		if next, n := s.Next(), s.Take(); n != want || next != want || !s.Passed(n) || s.Passed(n+1) {
			t.Fatalf("turn %d, and %d is the next; want %d", n, next, want)
		}
	}
	take(0)
	s.Void(0) // has passed
	s.Void(1)
	s.Void(2)
	s.Void(4)
	s.Void(4)
	take(3)
	take(5)
	s.Void(3)
	take(6)
	if len(s.void) > 0 {
		t.Errorf("%d turns are kept", len(s.void))
	}
}
