//go:build race

package gasnettest

const raceDetector = true
