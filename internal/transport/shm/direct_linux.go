package shm

import (
	"fmt"
	"net"
	"sync"

	"github.com/golci/golci/conduit"
	"golang.org/x/sys/unix"
)

// remote is what there is to reach a peer's memory with.
type remote struct {
	pid  int
	life int // descriptor of the process, readable when it has ended; -1 where the kernel has none
}

// hold opens the descriptor of process pid, which is at the other end of c. That the connection has not ended says
// that the number was still the peer's when it was looked up.
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
	defer v.releaseVecs()
	for _, c := range []vmCall{readv, writev} {
		if _, err := c.call(pid, v.local[:], v.remote[:], 0); err != unix.EFAULT {
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

func (v *vecs) releaseVecs() {
	v.local[0].Base = nil
	vecPool.Put(v)
}

// everything is the key number of all memory of a process, whose offsets begin at the address that is the key's base.
const everything = 1

func (e *rankMemory) reaches(peer int) bool {
	return uint(peer) < uint(len(e.remotes)) && e.remotes[peer].Load() != nil
}

// Reach implements conduit.Remote. Memory that was allocated can be mapped. For Get and Put the kernel gives a process
// all memory of another or none of it.
func (e *rankMemory) Reach(peer int) conduit.Reach {
	ok, maps := e.reaches(peer), e.shared.leads(peer)
	return conduit.Reach{Get: ok, Put: ok, Map: maps, Near: ok, Unseen: maps}
}

// Expose implements conduit.Remote. It has nothing to do: the collector does not move what is on the heap.
func (e *rankMemory) Expose(peer int, mem []byte) (conduit.Key, conduit.Status) {
	if !e.shared.leads(peer) || e.ring.Failed(peer) != nil {
		return conduit.Key{}, conduit.Dead
	}
	return conduit.Key{ID: everything, Base: address(mem), Size: int64(len(mem))}, conduit.OK
}

func (e *rankMemory) Release(peer int, k conduit.Key) error {
	if !e.shared.leads(peer) || k.ID != everything {
		return keyError(peer, k)
	}
	return nil
}

func keyError(peer int, k conduit.Key) error {
	return &conduit.PeerError{Peer: peer, Err: conduit.ErrKey, Detail: fmt.Sprintf("key %d", k.ID)}
}

// Move implements ring.Memory.
func (e *rankMemory) Move(peer int, get bool, local []byte, k conduit.Key, off int64) error {
	if k.ID != everything {
		return keyError(peer, k)
	}
	call := writev
	if get {
		call = readv
	}
	return e.vm(peer, local, k.Base+uint64(off), call)
}

// vmCall is a system call between the memories of two processes. The number of a process that has died is free to be
// another's. So a write looks before it whether the peer lives, and a read after it: what was read may be another's.
// One look takes a third of a microsecond, and neither call needs both.
type vmCall struct {
	name   string
	call   func(pid int, local []unix.Iovec, remote []unix.RemoteIovec, flags uint) (int, error)
	before bool
}

var (
	readv  = vmCall{name: "process_vm_readv", call: unix.ProcessVMReadv}
	writev = vmCall{name: "process_vm_writev", call: unix.ProcessVMWritev, before: true}
)

// doCall makes the call, and says whether it was, or would have been, with another process than the peer.
func (c vmCall) doCall(r remote, b []byte, addr uint64) (n int, gone bool, err error) {
	v := getVecs(b, addr)
	defer v.releaseVecs()
	if c.before && dead(r.life, v) {
		return 0, true, nil
	}
	n, err = c.call(r.pid, v.local[:], v.remote[:], 0)
	return n, !c.before && dead(r.life, v), err
}

// vm copies between b and address addr of the peer's memory.
func (e *rankMemory) vm(peer int, b []byte, addr uint64, c vmCall) error {
	r := e.remotes[peer].Load()
	if r == nil {
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: c.name}
	}
	for len(b) > 0 {
		n, gone, err := c.doCall(*r, b, addr)
		if gone {
			return &conduit.PeerError{Peer: peer, Err: conduit.ErrPeerDied, Detail: c.name}
		}
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			reason := conduit.ErrUnreachable
			if err == unix.ESRCH {
				reason = conduit.ErrPeerDied
			}
			detail := fmt.Sprintf("%s of %d bytes: %v", c.name, len(b), err)
			return &conduit.PeerError{Peer: peer, Err: reason, Detail: detail}
		}
		b, addr = b[n:], addr+uint64(n)
	}
	return nil
}
