//go:build race

package invariants

// Race is true under the race detector.
const Race = true
