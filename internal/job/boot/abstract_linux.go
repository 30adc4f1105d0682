package boot

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/authconn"
)

// errTaken: somebody else has bound the name.
var errTaken = unix.EADDRINUSE

// socketName makes an abstract socket name, which has no file, from the common data of a job's ranks.
func socketName(meeting string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", os.Geteuid(), meeting))
	return "@golci-" + hex.EncodeToString(sum[:12])
}

func listenAbstract(name string) (net.Listener, error) { return net.Listen("unix", name) }

// dialAbstract connects to a process of this user that listens under name, at a socket of network's kind. Errors:
// errNobody, errBusy, authconn.ErrUser.
func dialAbstract(network, name string) (net.Conn, error) {
	c, err := net.Dial(network, name)
	switch {
	case err == nil:
	case errors.Is(err, unix.ECONNREFUSED):
		return nil, errNobody
	case errors.Is(err, unix.EAGAIN):
		return nil, errBusy
	default:
		return nil, err
	}
	if _, err := authconn.SameUser(c.(*net.UnixConn)); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// isAnswered reports whether a process of this user listens on the abstract socket name. A listener that is busy
// counts.
func isAnswered(name string) bool {
	c, err := dialAbstract("unix", name)
	if err != nil {
		return errors.Is(err, errBusy)
	}
	c.Close()
	return true
}
