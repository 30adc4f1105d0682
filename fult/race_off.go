//go:build !race

package fult

const raceEnabled = false
