//go:build race

package jobtest

const raceEnabled = true
