//go:build !linux

package main

// kernelFeatures: what golci uses beyond the standard library is Linux's.
func kernelFeatures() []feature { return nil }
