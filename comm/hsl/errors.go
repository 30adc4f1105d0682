package hsl

import (
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/golci/golci/fult"
)

// What can be wrong, to be tested with errors.Is. A call that returns one of them has had no effect.
var (
	// ErrRecursive: Lock or TryLock by who holds the lock already.
	ErrRecursive = errors.New("hsl: lock taken again by its holder")
	// ErrNotHeld: Unlock of a lock that is free.
	ErrNotHeld = errors.New("hsl: unlock of a free lock")
	// ErrNotHolder: Unlock by somebody else than the holder.
	ErrNotHolder = errors.New("hsl: unlock by another than the holder")
	// ErrOrder: Unlock of a lock that is not the last one taken. Checked mode.
	ErrOrder = errors.New("hsl: unlock out of order")
	// ErrUnset: use of a lock that was never initialised, or has been destroyed.
	ErrUnset = errors.New("hsl: lock is not initialised")
	// ErrTwice: Init of a lock that is initialised.
	ErrTwice = errors.New("hsl: lock is initialised already")
	// ErrBusy: Destroy of a lock, or Close of its Locks, while it is held.
	ErrBusy = errors.New("hsl: lock is held")
	// ErrRequest: a request by who holds a lock. Checked mode, as those below.
	ErrRequest = errors.New("hsl: request while holding a lock")
	// ErrReply: a reply by who holds a lock.
	ErrReply = errors.New("hsl: reply while holding a lock")
	// ErrPoll: a poll by who holds a lock.
	ErrPoll = errors.New("hsl: poll while holding a lock")
	// ErrWait: a blocking call by who holds a lock.
	ErrWait = errors.New("hsl: blocking call while holding a lock")
	// ErrLeft: a handler that returned without releasing a lock; the lock has been released for it.
	ErrLeft = errors.New("hsl: handler returned while holding a lock")
	// ErrSuspended: Lock found that the holder is a fult thread that gave up its worker; the lock cannot be had.
	ErrSuspended = errors.New("hsl: holder has switched threads")
	// ErrLong: a lock was held, or waited for, longer than it should; a warning only.
	ErrLong = errors.New("hsl: lock held for long")
)

// Error tells about a misuse.
type Error struct {
	// Kind is one of the errors above.
	Kind error
	// Lock is the lock's name.
	Lock string
	// Rank is that of the endpoint, -1 without one.
	Rank int
	// Holder tells who holds the lock, or "".
	Holder string
	// Taken is the file and line where the holder took it, or "": known in checked mode only.
	Taken string
	// At is the file and line of the call at fault, or "": known in checked mode only.
	At string
	// For is how long the lock was held or waited for, if that is the matter.
	For time.Duration
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v: %q", e.Kind, e.Lock)
	if e.Rank >= 0 {
		fmt.Fprintf(&b, " of rank %d", e.Rank)
	}
	if e.Holder != "" {
		fmt.Fprintf(&b, ", held by %s", e.Holder)
	}
	if e.Taken != "" {
		fmt.Fprintf(&b, ", taken at %s", e.Taken)
	}
	if e.At != "" {
		fmt.Fprintf(&b, ", call at %s", e.At)
	}
	if e.For != 0 {
		fmt.Fprintf(&b, ", for %v", e.For)
	}
	return b.String()
}

// Unwrap gives the kind.
func (e *Error) Unwrap() error { return e.Kind }

// fail makes the error of kind about l; pc is the caller's place, or 0.
func (l *Lock) fail(kind error, pc uintptr) *Error {
	e := &Error{Kind: kind, Lock: l.name, Rank: -1, At: place(pc)}
	if l.set != nil {
		e.Rank = l.set.rank
	}
	if h := l.holder.Load(); h != nil {
		e.Holder, e.Taken = who(h.g, h.thread), place(h.pc)
	} else if g := l.owner.Load(); g != free && g != destroyed {
		e.Holder = who(uintptr(g), nil)
	}
	return e
}

func who(g uintptr, t *fult.Thread) string {
	if t != nil {
		return fmt.Sprintf("thread %v", t.ID())
	}
	return fmt.Sprintf("goroutine at %#x", g)
}

// place is the file and line of pc, the last two parts of the path.
func place(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line)
}

// caller is the place skip frames above the function that calls it, or 0 where nothing is checked. s may be nil.
func (s *Locks) caller(skip int) uintptr {
	if s != nil && !s.checked {
		return 0
	}
	var pc [1]uintptr
	runtime.Callers(skip+2, pc[:])
	return pc[0]
}
