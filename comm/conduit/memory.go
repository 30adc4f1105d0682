package conduit

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Memory is a conduit through which ranks share memory: what one rank registers its peers reach by loads and stores.
// It is optional, and may lead to some peers only. Wrappers do not have it, so that nothing passes them by.
//
// What a rank stores in a peer's memory is seen by whoever receives a record that was committed after the stores.
type Memory interface {
	// Register makes zeroed memory of size bytes, aligned to a cache line, and gives the peers access to it. It does
	// not wait for them. A rank registers once; a second call gives ErrConfig, a size that the system refuses a
	// *GrantError. The memory must not be used after the conduit itself has become garbage; after Close it is
	// private, and may be zero.
	Register(size int64) ([]byte, error)
	// Segment is what peer, which may be this rank, has registered: nil without an error while it has not, or while
	// the news is on its way, nil and a *PeerError if it is never going to be reached.
	Segment(peer int) ([]byte, error)
	// Lost is set when peer's memory should not be used any more, because it has died or closed its conduit, or this
	// rank has; by then Failed says so. It is cheap to look at before each access. Nil if peer is never going to be
	// reached.
	Lost(peer int) *atomic.Bool
}

// ErrGrant means that the system does not grant as much memory as was asked for.
var ErrGrant = errors.New("the system does not grant that much memory")

// GrantError is an ErrGrant with what was asked for and what could be had, in bytes.
type GrantError struct {
	Asked, Granted int64
	// Limit names what sets the limit.
	Limit string
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

// limit is one of the system's, in bytes.
type limit struct {
	name  string
	bytes int64
}
