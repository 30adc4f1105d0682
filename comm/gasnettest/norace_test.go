//go:build !race

package gasnettest

const raceDetector = false
