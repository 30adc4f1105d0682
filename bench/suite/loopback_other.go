//go:build !linux

package suite

// loopbackBytes is not known here.
func loopbackBytes() (uint64, bool) { return 0, false }
