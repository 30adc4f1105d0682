//go:build pmix && linux && (amd64 || arm64)

package pmix

import (
	"net/netip"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// watch waits for the end of the library's connection to its server. The library would tell that by a call of Go from
// its own thread. So the watch has the connection's socket a second time, and reads nothing from it.
type watch struct {
	lost chan struct{} // closed when the connection has ended by itself
	fd   int           // the socket, a duplicate
	bell int           // an eventfd: stop
	quit sync.Once
	over sync.WaitGroup
}

// uriNames are the variables in which a launcher gives its server's address, the newest first. Each is for a version of
// PMIx, and all name one server.
var uriNames = []string{
	"PMIX_SERVER_URI61", "PMIX_SERVER_URI51", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4", "PMIX_SERVER_URI3",
	"PMIX_SERVER_URI21", "PMIX_SERVER_URI2",
}

// watchServer starts a watch; nil if the connection is not found. It has one goroutine, which keeps a thread.
func watchServer(env func(name string) (string, bool)) *watch {
	for _, name := range uriNames {
		uri, _ := env(name)
		if at, ok := parseURI(uri); ok {
			if fd := findSocket(at); fd >= 0 {
				return newWatch(fd)
			}
		}
	}
	return nil
}

// newWatch owns fd from now on.
func newWatch(fd int) *watch {
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		unix.Close(fd)
		return nil
	}
	w := &watch{lost: make(chan struct{}), fd: fd, bell: bell}
	w.over.Go(w.waitHangUp)
	return w
}

// waitHangUp blocks in poll until the other end hangs up, or the bell rings.
func (w *watch) waitHangUp() {
	for {
		p := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLRDHUP}, {Fd: int32(w.bell), Events: unix.POLLIN}}
		_, err := unix.Poll(p, -1)
		switch {
		case err != nil && err != unix.EINTR, p[1].Revents != 0:
			return
		case err == nil && p[0].Revents != 0:
			close(w.lost)
			return
		}
	}
}

// stopWatch ends the goroutine and closes the duplicate: the server sees the end of a connection only when all its
// descriptors are closed.
func (w *watch) stopWatch() {
	w.quit.Do(func() {
		_, _ = unix.Write(w.bell, []byte{1, 0, 0, 0, 0, 0, 0, 0})
		w.over.Wait()
		unix.Close(w.fd)
		unix.Close(w.bell)
	})
}

// findSocket duplicates the descriptor of this process that is connected to at; -1 if there is none.
func findSocket(at netip.AddrPort) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || peerAddress(fd) != at {
			continue
		}
		if twin, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			return twin
		}
	}
	return -1
}

// peerAddress is the address that a socket is connected to.
func peerAddress(fd int) netip.AddrPort {
	sa, err := unix.Getpeername(fd)
	if err != nil {
		return netip.AddrPort{}
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}
