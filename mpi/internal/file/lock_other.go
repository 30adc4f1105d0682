//go:build !linux

package file

import (
	"errors"
	"os"
)

// hasLocks tells that parts of files cannot be locked.
const hasLocks = false

func lock(*os.File, int64, int64, bool) (func() error, error) { return nil, errors.ErrUnsupported }

// reserve makes a file no shorter than n bytes. There is no portable way to keep room.
func reserve(f *os.File, n int64) error { return grow(f, n) }
