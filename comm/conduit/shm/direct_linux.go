package shm

import (
	"fmt"
	"net"
	"sync"

	"github.com/golci/golci/comm/conduit"
	"golang.org/x/sys/unix"
)

// remote is what there is to reach a peer's memory with.
type remote struct {
	pid  int // 0 if its memory cannot be reached
	life int // descriptor of the process, readable when it has ended; -1 where the kernel has none
}

// hold opens the descriptor of process pid, which is at the other end of c. That the connection has not ended says that the number was
// still the peer's when it was looked up.
func hold(pid int, c *net.UnixConn) int {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1
	}
	open := false
	if raw, err := c.SyscallConn(); err == nil {
		_ = raw.Control(func(conn uintptr) {
			var b [1]byte
			n, _, err := unix.Recvfrom(int(conn), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
			open = err == unix.EAGAIN || n > 0
		})
	}
	if !open {
		_ = unix.Close(fd)
		return -1
	}
	return fd
}

// dead says whether the process of a descriptor has ended.
func dead(fd int, v *vecs) bool {
	if fd < 0 {
		return false
	}
	v.poll[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
	n, err := unix.Poll(v.poll[:], 0)
	return err == nil && n > 0
}

// reachable reports whether the kernel lets this process copy to and from the memory of process pid. Both directions
// are tried, since a filter of system calls may refuse one of them. The address is never mapped, so a permitted
// access gives EFAULT.
func reachable(pid int) bool {
	v := getVecs(make([]byte, 1), unmapped)
	defer v.release()
	for _, call := range []vmCall{unix.ProcessVMReadv, unix.ProcessVMWritev} {
		if _, err := call(pid, v.local[:], v.remote[:], 0); err != unix.EFAULT {
			return false
		}
	}
	return true
}

const unmapped = 1

// vecs holds the vectors of a call, on the heap because the kernel reads them.
type vecs struct {
	local  [1]unix.Iovec
	remote [1]unix.RemoteIovec
	poll   [1]unix.PollFd
}

var vecPool = sync.Pool{New: func() any { return new(vecs) }}

func getVecs(b []byte, addr uint64) *vecs {
	v := vecPool.Get().(*vecs)
	if len(b) > 0 {
		v.local[0].Base = &b[0]
	}
	v.local[0].SetLen(len(b))
	v.remote[0] = unix.RemoteIovec{Base: uintptr(addr), Len: len(b)}
	return v
}

func (v *vecs) release() {
	v.local[0].Base = nil
	vecPool.Put(v)
}

// DirectTo implements conduit.Direct.
func (e *end) DirectTo(peer int) bool {
	return uint(peer) < uint(len(e.remotes)) && e.remotes[peer].pid != 0
}

// Fetch implements conduit.Direct.
func (e *end) Fetch(peer int, dst []byte, addr uint64) error {
	return e.direct(peer, dst, addr, unix.ProcessVMReadv, "process_vm_readv")
}

// Put implements conduit.Direct.
func (e *end) Put(peer int, addr uint64, src []byte) error {
	return e.direct(peer, src, addr, unix.ProcessVMWritev, "process_vm_writev")
}

type vmCall func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)

func (e *end) direct(peer int, b []byte, addr uint64, call vmCall, name string) error {
	if !e.DirectTo(peer) {
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: name}
	}
	for len(b) > 0 {
		// Before each call, because the number of a process that has died is free to be another's; and after it, because what
		// was read may be another's then.
		if err := e.Failed(peer); err != nil {
			return err
		}
		r := e.remotes[peer]
		v := getVecs(b, addr)
		gone := dead(r.life, v)
		var n int
		var err error
		if !gone {
			n, err = call(r.pid, v.local[:], v.remote[:], 0)
			gone = dead(r.life, v)
		}
		v.release()
		if gone {
			return &conduit.PeerError{Peer: peer, Err: conduit.ErrPeerDied, Detail: name}
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			reason := conduit.ErrUnreachable
			if err == unix.ESRCH {
				reason = conduit.ErrPeerDied
			}
			return &conduit.PeerError{Peer: peer, Err: reason, Detail: fmt.Sprintf("%s of %d bytes: %v", name, len(b), err)}
		}
		b, addr = b[n:], addr+uint64(n)
	}
	return nil
}
