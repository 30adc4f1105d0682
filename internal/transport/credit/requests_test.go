package credit

import "testing"

// TestRequests: requests are counted in every mode, also over the ends of epochs.
func TestRequests(t *testing.T) {
	for _, mode := range []Mode{Dynamic, Fixed, NoFlow} {
		c := small()
		c.Mode, c.Epoch = mode, 4
		g, err := NewLedger(c, 0, 2)
		if err != nil {
			t.Fatal(err)
		}
		for n := range uint64(11) {
			if s := g.Stats(); s.Requests != n {
				t.Fatalf("%v: %d requests, not %d", mode, s.Requests, n)
			}
			g.Freed(1, 1)
		}
	}
}
