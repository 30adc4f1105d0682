//go:build !unix

package boot

import (
	"errors"
	"net"
)

func connFromFD(int) (net.Conn, error) {
	return nil, errors.New("inherited sockets are not supported on this system")
}
