package file

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// hasLocks tells that parts of files can be locked.
const hasLocks = true

// lock keeps others off n bytes at a place; shared: those that write. The lock is of the open file, not of the process,
// so ranks in one process exclude each other. The system drops it when the process dies.
func lock(f *os.File, at, n int64, shared bool) (unlock func() error, err error) {
	l := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart, Start: at, Len: n}
	if shared {
		l.Type = unix.F_RDLCK
	}
	if err := control(f, &l); err != nil {
		return nil, err
	}
	return func() error {
		l.Type = unix.F_UNLCK
		return control(f, &l)
	}, nil
}

func control(f *os.File, l *unix.Flock_t) error {
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLKW, l)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// reserve keeps room for the first n bytes of a file.
func reserve(f *os.File, n int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, n)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return grow(f, n)
	}
	return err
}
