//go:build amd64 || arm64

package arch

// Pause tells the core that the caller spins (PAUSE, YIELD).
func Pause()

// G identifies the calling goroutine (or coroutine). Two live goroutines never share it; after a goroutine ends, a
// later one may get the same value.
func G() uintptr
