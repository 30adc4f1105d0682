//go:build ofi && linux && (amd64 || arm64)

package fi

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/golci/golci/internal/platform/dl"
)

// errTable means that the library's tables are shorter than those of version 1.17.
var errTable = errors.New("libfabric is older than 1.17, or built without a part of it")

// oldest is the version whose layouts this package has, and which it asks for.
const oldest = 1<<16 | 17

// Library is libfabric, opened.
type Library struct {
	lib *dl.Library
	// Major and Minor are its version.
	Major, Minor int

	getInfo, freeInfo, dupInfo, fabric, strError, strDup uintptr
}

// Load opens libfabric. Later calls return what the first one did. It may take hundreds of milliseconds. The error
// matches dl.ErrMissing where there is none.
var Load = sync.OnceValues(loadLibrary)

func loadLibrary() (*Library, error) {
	lib, err := dl.Open("libfabric.so.1", "libfabric.so")
	if err != nil {
		return nil, err
	}
	l := &Library{lib: lib}
	var version uintptr
	for _, f := range []struct {
		name string
		at   *uintptr
	}{
		{"fi_version", &version},
		{"fi_getinfo", &l.getInfo},
		{"fi_freeinfo", &l.freeInfo},
		{"fi_dupinfo", &l.dupInfo},
		{"fi_fabric", &l.fabric},
		{"fi_strerror", &l.strError},
		{"strdup", &l.strDup},
	} {
		if *f.at, err = lib.Symbol(f.name); err != nil {
			return nil, err
		}
	}
	v := callC(version)
	l.Major, l.Minor = v>>16, v&0xffff
	if v < oldest {
		return nil, fmt.Errorf("%w: %s is version %d.%d", errTable, lib.Name(), l.Major, l.Minor)
	}
	return l, nil
}

// Error is what the library says of a code that a call returned, negated or not, with what was tried.
func (l *Library) Error(what string, code int) error {
	if code < 0 {
		code = -code
	}
	return &CodeError{what, code, goString(callPointer(l.strError, uintptr(code)))}
}

// CodeError is an error that the library has returned.
type CodeError struct {
	What string
	Code int // positive
	Text string
}

// Error implements error.
func (e *CodeError) Error() string { return fmt.Sprintf("%s: %s (%d)", e.What, e.Text, e.Code) }

// callC calls a C function that returns an int. What an argument that is converted in the call points to stays where it
// is until the call is over.
//
//go:uintptrescapes
func callC(fn uintptr, args ...uintptr) int {
	f := dl.Frame{Fn: fn}
	copy(f.Arg[:], args)
	return f.Int32()
}

// callPointer is callC for a function that returns a pointer.
//
//go:uintptrescapes
func callPointer(fn uintptr, args ...uintptr) uintptr {
	f := dl.Frame{Fn: fn}
	copy(f.Arg[:], args)
	return f.Do()
}

// memoryAt gives what lies at an address of C.
func memoryAt[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

// goString copies a string of C; "" for nil.
func goString(p uintptr) string {
	if p == 0 {
		return ""
	}
	n := 0
	for *memoryAt[byte](p + uintptr(n)) != 0 {
		n++
	}
	return string(unsafe.Slice(memoryAt[byte](p), n))
}

// operationAt is an entry of a table, whose length is checked.
func operationAt(table uintptr, place uintptr) (uintptr, error) {
	if table == 0 || *memoryAt[uintptr](table) < place+wordBytes {
		return 0, errTable
	}
	fn := *memoryAt[uintptr](table + place)
	if fn == 0 {
		return 0, errTable
	}
	return fn, nil
}

// readOperations fills in several.
func readOperations(table uintptr, into map[*uintptr]uintptr) error {
	for f, place := range into {
		var err error
		if *f, err = operationAt(table, place); err != nil {
			return err
		}
	}
	return nil
}

// closeObject ends an object; nil is none.
func closeObject(l *Library, what string, obj uintptr) error {
	if obj == 0 {
		return nil
	}
	fn, err := operationAt(memoryAt[fid](obj).ops, opClose)
	if err != nil {
		return err
	}
	if rc := callC(fn, obj); rc != 0 {
		return l.Error("close "+what, rc)
	}
	return nil
}

// bindObject joins an object to another.
func bindObject(l *Library, what string, obj, to uintptr, flags uint64) error {
	fn, err := operationAt(memoryAt[fid](obj).ops, opBind)
	if err != nil {
		return err
	}
	if rc := callC(fn, obj, to, uintptr(flags)); rc != 0 {
		return l.Error(what, rc)
	}
	return nil
}

// controlObject gives an object a command, with an argument as that of call.
//
//go:uintptrescapes
func controlObject(l *Library, what string, obj uintptr, cmd int, arg uintptr) error {
	fn, err := operationAt(memoryAt[fid](obj).ops, opControl)
	if err != nil {
		return err
	}
	if rc := callC(fn, obj, uintptr(cmd), arg); rc != 0 {
		return l.Error(what, rc)
	}
	return nil
}

// Code is what the library says of a code that an operation of an endpoint returned.
func Code(e *Endpoint, what string, code int) error { return e.lib.Error(what, code) }

// IsKey tells whether an operation has failed because the memory of the peer is not known under that key, or is
// shorter.
func IsKey(err error) bool {
	var c *CodeError
	return errors.As(err, &c) && slices.Contains(keyCodes, c.Code)
}

// keyCodes are what providers say then: EPERM, EACCES, EFAULT, EINVAL, ENOKEY, EKEYREJECTED, EREMOTEIO.
var keyCodes = []int{1, 13, 14, 22, 126, 129, 121}
