//go:build !linux

package mmsg

var openBest = openPump
