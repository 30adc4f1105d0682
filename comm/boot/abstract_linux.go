package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// errTaken: somebody else has bound the name.
var errTaken = unix.EADDRINUSE

// socketName makes an abstract socket name, which no file stands for, from what the ranks of one job have in common.
func socketName(meeting string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", os.Getuid(), meeting))
	return "@golci-" + hex.EncodeToString(sum[:12])
}

func listenAbstract(name string) (net.Listener, error) { return net.Listen("unix", name) }

// answers says whether a process of this user listens under name.
func answers(name string) bool {
	c, err := net.Dial("unix", name)
	if err != nil {
		return errors.Is(err, unix.EAGAIN) // its backlog is full, so it is there
	}
	defer c.Close()
	return sameUser(c)
}

// sameUser says whether the process at the other end runs under our user id.
func sameUser(c net.Conn) bool {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return false
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return false
	}
	same := false
	err = raw.Control(func(fd uintptr) {
		cred, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
		same = err == nil && int(cred.Uid) == os.Getuid()
	})
	return err == nil && same
}
