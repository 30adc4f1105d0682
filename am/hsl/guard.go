package hsl

import (
	"runtime"
	"strings"

	"github.com/golci/golci/am"
)

// Leave implements am.Guard: the handler has returned. What it left locked is released, and an error.
func (s *Locks) Leave() error {
	if !s.checked {
		return nil
	}
	return s.dropAll(ErrLeft)
}

// Allow implements am.Guard: a holder of a lock may do none of this.
func (s *Locks) Allow(c am.Call) error {
	switch c {
	case am.CallRequest:
		return s.refuseHolder(ErrRequest)
	case am.CallReply:
		return s.refuseHolder(ErrReply)
	case am.CallPoll:
		return s.refuseHolder(ErrPoll)
	}
	return s.refuseHolder(ErrWait)
}

// outsideCaller is the place of the first caller that is neither this package nor the layers that ask it.
func outsideCaller() uintptr {
	var pcs [16]uintptr
	n := runtime.Callers(3, pcs[:])
	frames := runtime.CallersFrames(pcs[:n])
	for i := range n {
		f, more := frames.Next()
		if !isOurs(f.Function) || !more {
			return pcs[i]
		}
	}
	return 0
}

// isOurs tells whether function belongs to this package or to the layers that ask it; their tests do not.
func isOurs(function string) bool {
	for _, p := range [...]string{"am/hsl.(", "am.(", "am/barrier.(", "am/rma.("} {
		if strings.Contains(function, "golci/"+p) {
			return true
		}
	}
	return false
}
