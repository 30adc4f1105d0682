package pmix

import "errors"

// Errors. Every returned error wraps one of them, or a context's error, or is a StatusError.
var (
	ErrLibrary = errors.New("pmix: libpmix.so.2 cannot be used") // the text says why
	ErrServer  = errors.New("pmix: bad answer of the server")
	ErrLost    = errors.New("pmix: the server has gone")
	ErrNoKey   = errors.New("pmix: no such key")
	ErrDone    = errors.New("pmix: finalized already")
	ErrStuck   = errors.New("pmix: an earlier call of the library has not returned")
	ErrAborted = errors.New("pmix: aborted by this rank")
)
