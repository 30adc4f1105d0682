//go:build !linux

package mmsg

var openNative = openPump
