// Package invariants switches checks that are too dear for normal builds: build with -tags golci_invariants, or with
// -race. Where Enabled is false the checks are dead code and cost nothing.
package invariants

import "fmt"

// Check panics with the formatted text if ok is false. Guard the call with Enabled, so that its arguments are not
// evaluated in normal builds.
func Check(ok bool, format string, args ...any) {
	if !ok {
		panic("golci: broken invariant: " + fmt.Sprintf(format, args...))
	}
}
