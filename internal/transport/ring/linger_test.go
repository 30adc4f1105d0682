package ring

import "testing"

// TestLingerNeedsAFlood: after a single record the consumer does not stand back next time. After several records in a
// row it does.
func TestLingerNeedsAFlood(t *testing.T) {
	for _, c := range []struct{ n, passes int }{{1, 7}, {2, 0}, {9, 0}} {
		x := Consumer{data: make([]byte, 2*Line), passes: 7}
		x.wordAt(Line).Store(Line)
		if !x.linger(Line, c.n) || x.passes != c.passes {
			t.Errorf("after %d records: %d passes, want %d", c.n, x.passes, c.passes)
		}
	}
	x := Consumer{data: make([]byte, 2*Line), passes: 7}
	if x.linger(Line, 1) || x.passes != 15 || x.pass != 15 {
		t.Errorf("in vain: %d of %d passes", x.pass, x.passes)
	}
}
