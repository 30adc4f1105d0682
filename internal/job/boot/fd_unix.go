//go:build unix

package boot

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// connFromFD takes over the connected socket fd. The processes this one starts must not get it: a rank that has ended
// would otherwise seem alive to the launcher.
func connFromFD(fd int) (net.Conn, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return nil, unix.ENOTSOCK
	}
	unix.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), "PMI_FD")
	defer f.Close()
	return net.FileConn(f)
}
