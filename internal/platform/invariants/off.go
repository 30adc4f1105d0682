//go:build !golci_invariants && !race

package invariants

// Enabled is true in builds that check themselves.
const Enabled = false
