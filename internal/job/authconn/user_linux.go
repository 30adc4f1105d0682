package authconn

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// SameUser checks that the process at the other end of a Unix socket belongs to the effective user of this one, and
// returns its number. Otherwise the error, which wraps ErrUser, names it.
func SameUser(c syscall.Conn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(e, os.NewSyscallError("getsockopt(SO_PEERCRED)", err)); err != nil {
		return 0, err
	}
	if int(cred.Uid) != os.Geteuid() {
		return 0, fmt.Errorf("%w: process %d of user %d, not of user %d", ErrUser, cred.Pid, cred.Uid, os.Geteuid())
	}
	return int(cred.Pid), nil
}
