//go:build race

package fult

const raceEnabled = true
