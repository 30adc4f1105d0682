// Package inside lets tests wait until a goroutine is where it is to wait, when nothing else shows that.
package inside

import (
	"runtime"
	"strings"
)

// Function says whether a goroutine of this process is in the named function, or in one that it has called. name is
// as in a stack trace; its package may lack the first elements of its path, as in "spin.(*Lock).Lock". It stops the
// world for a moment.
func Function(name string) bool {
	for size := 64 << 10; ; size *= 2 {
		stacks := make([]byte, size)
		if n := runtime.Stack(stacks, true); n < size {
			text := string(stacks[:n])
			return strings.Contains(text, "/"+name+"(") || strings.Contains(text, "\n"+name+"(")
		}
	}
}

// Waits runs f on a goroutine, and returns when that is in the named function, or when f has returned, which it
// tells. ended is closed when f has returned.
func Waits(name string, f func()) (waits bool, ended <-chan struct{}) {
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	for {
		select {
		case <-done:
			return false, done
		default:
			if Function(name) {
				return true, done
			}
			runtime.Gosched()
		}
	}
}
