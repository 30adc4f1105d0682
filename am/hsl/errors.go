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
	ErrRecursive = errors.New("hsl: lock taken again by its holder")
	ErrNotHeld   = errors.New("hsl: unlock of a free lock")
	ErrNotHolder = errors.New("hsl: unlock by another than the holder")
	ErrOrder     = errors.New("hsl: unlock out of order")     // checked mode
	ErrUnset     = errors.New("hsl: lock is not initialised") // or has been destroyed
	ErrTwice     = errors.New("hsl: lock is initialised already")
	ErrBusy      = errors.New("hsl: lock is held")                 // at Destroy or Close
	ErrRequest   = errors.New("hsl: request while holding a lock") // checked mode, as those below
	ErrReply     = errors.New("hsl: reply while holding a lock")
	ErrPoll      = errors.New("hsl: poll while holding a lock")
	ErrWait      = errors.New("hsl: blocking call while holding a lock")
	ErrLeft      = errors.New("hsl: handler returned while holding a lock") // and the lock has been released
	ErrSuspended = errors.New("hsl: holder has switched threads")           // so the lock cannot be had
	ErrLong      = errors.New("hsl: lock held for long")                    // or waited for; a warning only
)

// Error tells about a misuse.
type Error struct {
	Kind   error         // one of the errors above
	Lock   string        // name
	Rank   int           // of the endpoint, -1 without one
	Holder string        // who holds the lock, or ""
	Taken  string        // file and line where the holder took it, in checked mode, or ""
	At     string        // file and line of the call at fault, in checked mode, or ""
	For    time.Duration // how long it was held or waited for, if that is the matter
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

// lockError makes the error of kind about l; pc is the caller's place, or 0.
func (l *Lock) lockError(kind error, pc uintptr) *Error {
	e := &Error{Kind: kind, Lock: l.name, Rank: -1, At: placeText(pc)}
	if l.set != nil {
		e.Rank = l.set.rank
	}
	if h := l.holder.Load(); h != nil {
		e.Holder, e.Taken = holderText(h.g, h.thread), placeText(h.pc)
	} else if g := l.owner.Load(); g != free && g != destroyed {
		e.Holder = holderText(uintptr(g), nil)
	}
	return e
}

func holderText(g uintptr, t *fult.Thread) string {
	if t != nil {
		return fmt.Sprintf("thread %v", t.ID())
	}
	return fmt.Sprintf("goroutine at %#x", g)
}

// placeText is the file and line of pc, the last two parts of the path.
func placeText(pc uintptr) string {
	if pc == 0 {
		return ""
	}
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line)
}

// callerPlace is the place skip frames above the function that calls it, or 0 where nothing is checked. s may be nil.
func (s *Locks) callerPlace(skip int) uintptr {
	if s != nil && !s.checked {
		return 0
	}
	var pc [1]uintptr
	runtime.Callers(skip+2, pc[:])
	return pc[0]
}
