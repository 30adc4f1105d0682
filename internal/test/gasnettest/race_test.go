//go:build race

package gasnettest

// raceSlower is by how much tests are cut down under the race detector.
const raceSlower = 4
