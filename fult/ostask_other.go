//go:build !linux

package fult

// inKernel is known on Linux only.
func inKernel(int) bool { return false }

func osThread() int { return 0 }
