//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"fmt"
	"runtime"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// names are those of the library, whose interface is the same in versions 2 to 6.
var names = []string{"libpmix.so.2"}

// library has the addresses of the functions that are used.
type library struct {
	init, finalize, put, commit, fence, get, abort, errorString, version, free uintptr
}

// openLibrary binds the library. It may take hundreds of milliseconds.
func openLibrary() (*library, error) {
	l, err := dl.Open(names...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w (Debian: libpmix2)", ErrLibrary, err)
	}
	lib := &library{}
	for name, at := range map[string]*uintptr{
		"PMIx_Init": &lib.init, "PMIx_Finalize": &lib.finalize, "PMIx_Put": &lib.put, "PMIx_Commit": &lib.commit,
		"PMIx_Fence": &lib.fence, "PMIx_Get": &lib.get, "PMIx_Abort": &lib.abort,
		"PMIx_Error_string": &lib.errorString, "PMIx_Get_version": &lib.version, "free": &lib.free,
	} {
		if *at, err = l.Symbol(name); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
		}
	}
	return lib, nil
}

// callFunction calls a function. keep is the memory that the arguments point to; it must come from onHeap, or be nil.
func callFunction(fn uintptr, keep any, args ...uintptr) uintptr {
	f := dl.Frame{Fn: fn}
	copy(f.Arg[:], args)
	ret := f.Do()
	runtime.KeepAlive(keep)
	return ret
}

// callStatus is callFunction for a function that returns a pmix_status_t.
func (l *library) callStatus(fn uintptr, what string, keep any, args ...uintptr) error {
	return l.checkStatus(what, int32(callFunction(fn, keep, args...)))
}

// onHeap makes a T that does not move, unlike one on a stack.
//
//go:noinline
func onHeap[T any]() *T { return new(T) }

// StatusError is a call that the library or its server has refused. It wraps ErrNoKey or ErrLost where Status says so.
// A Fence that a rank cannot complete any more may say the same as one whose server has gone.
type StatusError struct {
	Call   string // such as PMIx_Init
	Status int    // pmix_status_t
	Text   string // what the library says about Status
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("pmix: %s: %s (status %d)", e.Call, e.Text, e.Status)
}

// Unwrap lets errors.Is find ErrNoKey and ErrLost.
func (e *StatusError) Unwrap() error {
	switch e.Status {
	case statusNotFound:
		return ErrNoKey
	case statusConnected, statusUnreach, statusComm:
		return ErrLost
	}
	return nil
}

func (l *library) checkStatus(what string, status int32) error {
	if status == statusSuccess {
		return nil
	}
	text := goString(callFunction(l.errorString, nil, uintptr(status)))
	return &StatusError{Call: what, Status: int(status), Text: text}
}

// mostText bounds a string of the library's.
const mostText = 1 << 20

// goString copies a C string, at most mostText bytes of it.
func goString(at uintptr) string {
	if at == 0 {
		return ""
	}
	n := uintptr(0)
	for n < mostText && *(*byte)(foreignMemory(at + n)) != 0 {
		n++
	}
	return string(unsafe.Slice((*byte)(foreignMemory(at)), n))
}

// foreignMemory is the memory at an address that C has given. It does not belong to Go's heap.
func foreignMemory(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }
