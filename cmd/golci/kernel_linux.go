package main

import (
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelFeatures tries each thing once, on this process itself.
func kernelFeatures() []feature {
	return []feature{
		{name: "memfd", err: tryMemfd()},
		{name: "futex", err: tryFutex()},
		{name: "eventfd", err: tryFD(unix.Eventfd(0, unix.EFD_CLOEXEC))},
		{name: "membarrier", err: tryMembarrier()},
		{name: "pidfd", err: tryFD(unix.PidfdOpen(os.Getpid(), 0))},
		{name: "process_vm_readv", err: tryReadv(), note: yama()},
	}
}

func tryFD(fd int, err error) error {
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func tryMemfd() error {
	fd, err := unix.MemfdCreate("golci-info", unix.MFD_CLOEXEC)
	return tryFD(fd, err)
}

// tryFutex wakes nobody on a word of its own.
func tryFutex() error {
	const wake = 1
	word := new(uint32)
	_, _, errno := unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), wake, 1, 0, 0, 0)
	return errnoErr(errno)
}

func tryMembarrier() error {
	const query, global = 0, 1
	mask, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, query, 0, 0)
	if errno == 0 && mask&global == 0 {
		return unix.EOPNOTSUPP
	}
	return errnoErr(errno)
}

func tryReadv() error {
	src, dst := []byte{1, 2, 3}, make([]byte, 3)
	_, err := unix.ProcessVMReadv(os.Getpid(),
		[]unix.Iovec{{Base: &dst[0], Len: uint64(len(dst))}},
		[]unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&src[0])), Len: len(src)}}, 0)
	return err
}

// yama tells whether one rank may read another's memory: at 0 any of the same user.
func yama() string {
	b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope")
	if err != nil {
		return "no restriction between processes of one user"
	}
	return "kernel.yama.ptrace_scope " + strings.TrimSpace(string(b))
}

func errnoErr(e unix.Errno) error {
	if e == 0 {
		return nil
	}
	return e
}
