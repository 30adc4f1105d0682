//go:build !linux

package suite

func loopbackBytes() (uint64, bool) { return 0, false }
