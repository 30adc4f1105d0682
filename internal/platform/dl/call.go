//go:build (ofi || pmix) && linux && (amd64 || arm64)

package dl

import (
	"unsafe"

	_ "github.com/ebitengine/purego" // which sets up the runtime for calls of C
)

// Args is how many arguments a call may have.
const Args = 9

// Frame is a call of a C function: its address, integer or pointer arguments, and what it returned. The trampoline
// knows the places of the fields.
type Frame struct {
	Fn  uintptr
	Arg [Args]uintptr
	Ret uintptr
}

// Do makes the call and returns its result. It takes tens of nanoseconds more than the C function itself. It blocks the
// thread for as long as that runs, as a system call does. The frame may lie on the stack, which is not moved meanwhile.
// What the arguments point to must be alive until Do returns, and not on a stack, which may move before the call. It
// must be outside of the Go heap if C keeps it longer.
func (f *Frame) Do() uintptr {
	cgocall(trampolineAt, unsafe.Pointer(f))
	return f.Ret
}

// Int is Do for a function that returns an int or a ssize_t.
func (f *Frame) Int() int { return int(f.Do()) }

// Int32 is Do for a function that returns an int.
func (f *Frame) Int32() int { return int(int32(f.Do())) }

// cgocall switches to the system stack and tells the scheduler, as for a call by cgo. purego relies on it, too.
//
//go:linkname cgocall runtime.cgocall
//go:noescape
func cgocall(fn, frame unsafe.Pointer) int32

// trampoline is called on the system stack, by the C convention, with a Frame. It is never called from Go.
func trampoline()

// trampolineOf gives the address of trampoline, without the wrapper that Go's convention would put before it.
func trampolineOf() unsafe.Pointer

var trampolineAt = trampolineOf()
