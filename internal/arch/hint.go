//go:build amd64 || arm64

package arch

import "unsafe"

// Pause tells the core that the caller spins (PAUSE, YIELD).
func Pause()

// Prefetch asks for the cache line of p, for reading; it never faults.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// PrefetchW asks for the cache line of p, for writing: another core's copy is called in before the store that needs it,
// and without filling the store buffer. It never faults.
//
//go:noescape
func PrefetchW(p unsafe.Pointer)

// G identifies the calling goroutine (or coroutine). Two live goroutines never share it; after a goroutine ends, a
// later one may get the same value.
func G() uintptr
