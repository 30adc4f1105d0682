//go:build !linux

package main

// kernelFeatures: golci uses features beyond the standard library on Linux only.
func kernelFeatures() []feature { return nil }
