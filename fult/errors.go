package fult

import (
	"errors"
	"fmt"
)

var (
	// ErrConfig is wrapped by New for a Config that makes no sense.
	ErrConfig = errors.New("bad configuration")
	// ErrClosed is returned for work given to a closed scheduler, and by Join for a thread that Close ended.
	ErrClosed = errors.New("fult: scheduler is closed")
	// ErrTooMany is wrapped by Go and GoOn when the threads alive are as many as the configuration allows.
	ErrTooMany = errors.New("too many threads")
	// ErrArgument is wrapped for arguments out of range.
	ErrArgument = errors.New("bad argument")
	// ErrInside is returned by Close and Wait when a thread of the same scheduler calls them: it would wait for itself.
	ErrInside = errors.New("fult: called from a thread of the same scheduler")
	// ErrGoexit is returned by Join for a thread that called runtime.Goexit (as testing's FailNow does).
	ErrGoexit = errors.New("fult: thread called runtime.Goexit")
)

// PanicError is what became of a thread whose function panicked.
type PanicError struct {
	Value any    // the argument of panic
	Stack []byte // the thread's own stack at the time
	ID    ID     // which thread
}

// Error returns the panic's value and the thread's stack.
func (e *PanicError) Error() string {
	return fmt.Sprintf("fult: thread %v panicked: %v\n\n%s", e.ID, e.Value, e.Stack)
}

// Unwrap returns the panic's value if that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
