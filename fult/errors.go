package fult

import (
	"errors"
	"fmt"
)

var (
	ErrConfig   = errors.New("bad configuration")                                // wrapped by New
	ErrClosed   = errors.New("fult: scheduler is closed")                        // also threads that Abort or Close has ended
	ErrTooMany  = errors.New("too many threads")                                 // alive, for Config.MaxThreads
	ErrArgument = errors.New("bad argument")                                     // wrapped for arguments out of range
	ErrInside   = errors.New("fult: called from a thread of the same scheduler") // it would wait for itself
	ErrGoexit   = errors.New("fult: thread called runtime.Goexit")               // as FailNow of testing does
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
