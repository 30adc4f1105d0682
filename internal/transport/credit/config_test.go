package credit

import "testing"

// TestLimitsOfThePortalsConduit: the limits of the default terms are those that its table was made for.
func TestLimitsOfThePortalsConduit(t *testing.T) {
	c := Terms(1000, 1024)
	got := [...]int{c.Max, c.LenderLimit, c.RevokeLimit, c.Scavenge, c.Epoch, c.Share, c.Patience}
	if want := [...]int{400, 32, 32, 6, 1024, 16, 256}; got != want {
		t.Errorf("max, lender limit, revoke limit, scavenge, epoch, share, patience: %v, want %v", got, want)
	}
}
