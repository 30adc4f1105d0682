//go:build !linux

package futex

// register reports that there is no membarrier here.
func register() bool { return false }

// Membarrier does nothing and returns false. The caller needs fences of its own.
func Membarrier() bool { return false }

// MembarrierPrivate does nothing and returns false.
func MembarrierPrivate() bool { return false }
