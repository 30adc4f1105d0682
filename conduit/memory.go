package conduit

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/golci/golci/internal/platform/topology"
)

// ErrGrant means that the system does not grant as much memory as was asked for.
var ErrGrant = errors.New("the system does not grant that much memory")

// GrantError is an ErrGrant with what was asked for and what could be had, in bytes.
type GrantError struct {
	Asked, Granted int64
	Limit          string // what sets the limit
}

// Error implements error.
func (e *GrantError) Error() string {
	return fmt.Sprintf("%v: %d bytes asked, %d granted (%s)", ErrGrant, e.Asked, e.Granted, e.Limit)
}

// Unwrap gives ErrGrant, for errors.Is.
func (e *GrantError) Unwrap() error { return ErrGrant }

// CheckGrant returns a *GrantError if size bytes of memory are more than this process may have, by the limits that
// the system tells: the memory of the machine, of the control group, and the address space of the process. ErrConfig
// if size is not positive. That it returns nil does not reserve anything.
func CheckGrant(size int64) error {
	if size <= 0 {
		return fmt.Errorf("%w: memory of %d bytes", ErrConfig, size)
	}
	if l := grantLimit(); size > l.bytes {
		return &GrantError{Asked: size, Granted: l.bytes, Limit: l.name}
	}
	return nil
}

// Allocate is Remote.Allocate for conduits that can expose any memory. The memory is of the Go heap.
func Allocate(size int64) ([]byte, error) {
	if err := CheckGrant(size); err != nil {
		return nil, err
	}
	return HeapMemory(int(size)), nil
}

// HeapMemory returns n zeroed bytes of the Go heap, aligned to a cache line.
func HeapMemory(n int) []byte {
	const line = topology.LayoutLine
	m := make([]byte, n+line)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(m))) & (line - 1))
	return m[skip : skip+n : skip+n]
}

// limit is one of the system's, in bytes.
type limit struct {
	name  string
	bytes int64
}
