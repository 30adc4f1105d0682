//go:build amd64 || arm64

package arch

import "unsafe"

// Pause tells the core that the caller spins. It is PAUSE on amd64 and YIELD on arm64.
func Pause()

// G returns the identity of the calling goroutine or coroutine. Two goroutines alive never have the same one. A later
// goroutine may get the identity of one that has ended. The package does not keep the goroutine alive.
func G() uintptr

// Prefetch asks for the cache line at p. It is PREFETCHT0 on amd64 and PRFM PLDL1KEEP on arm64.
//
//go:noescape
func Prefetch(p unsafe.Pointer)
