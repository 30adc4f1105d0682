//go:build !linux

package main

// tieToGoRun would end this process with the go command that runs it; this system offers no way.
func tieToGoRun() {}

// kernelFeatures: golci uses features beyond the standard library on Linux only.
func kernelFeatures() []feature { return nil }
