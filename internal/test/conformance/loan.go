package conformance

import "testing"

// RunLoan runs the part of the suite that keeps to the loan, for conduits that need that: without credits nothing
// bounds what a sender has under way, and a peer that does not poll overflows.
func RunLoan(t *testing.T, slow int, factory Factory) {
	for _, v := range Variants {
		t.Run(v.Name, func(t *testing.T) {
			cs := factory(t, 2, v.Cfg)
			t.Cleanup(func() { closeAll(t, cs) })
			testLoanIsRoom(suite{t, slow}, cs)
		})
	}
}
