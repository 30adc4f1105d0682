package shm

import (
	"fmt"
	"sync"

	"github.com/golci/golci/comm/conduit"
	"golang.org/x/sys/unix"
)

// remote is what there is to reach a peer's memory with.
type remote struct {
	pid int // 0 if its memory cannot be reached
}

// reachable reports whether the kernel lets this process copy to and from the memory of process pid. The address tried
// is never mapped, so a permitted access gives EFAULT.
func reachable(pid int) bool {
	v := getVecs(nil, unmapped)
	defer v.release()
	var b [1]byte
	v.local[0].Base = &b[0]
	v.local[0].SetLen(1)
	v.remote[0].Len = 1
	_, err := unix.ProcessVMReadv(pid, v.local[:], v.remote[:], 0)
	return err == unix.EFAULT
}

const unmapped = 1

// vecs holds the vectors of a call, on the heap because the kernel reads them.
type vecs struct {
	local  [1]unix.Iovec
	remote [1]unix.RemoteIovec
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
		// Before each call, because the number of a process that has died is free to be another's.
		if err := e.Failed(peer); err != nil {
			return err
		}
		v := getVecs(b, addr)
		n, err := call(e.remotes[peer].pid, v.local[:], v.remote[:], 0)
		v.release()
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
