package jobtest

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// confineVar makes the test binary take something away from itself, and then become the program of its arguments, or
// itself if it has none, which inherits that. Its value is a list of confinements, separated by spaces:
//
//	refuse:CALL:ERRNO   the kernel refuses a system call
//	refuse:CALL:ERRNO:ARG:VALUE   only where its argument ARG, from 0, is VALUE
//	files:N             at most N descriptors
//	hide:DIR            an empty file system lies over DIR; this needs root
//	rank:R              what follows holds for rank R only
const confineVar = "GOLCI_TEST_JOB_CONFINE"

// confined does what confineVar asks for and does not return. It runs on one thread, which is the one that becomes the
// program.
func confined(list string) error {
	runtime.LockOSThread()
	argv := os.Args
	if len(argv) > 1 {
		argv = argv[1:]
	}
	for _, word := range strings.Fields(list) {
		f := strings.Split(word, ":")
		var err error
		switch f[0] {
		case "rank":
			if os.Getenv("PMI_RANK") != f[1] {
				return become(argv)
			}
		case "refuse":
			err = refuse(f[1:])
		case "files":
			err = fewFiles(f[1])
		case "hide":
			err = hide(f[1])
		default:
			err = errors.New("unknown")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
	}
	return become(argv)
}

func become(argv []string) error {
	if err := os.Unsetenv(confineVar); err != nil {
		return err
	}
	return syscall.Exec(argv[0], argv, os.Environ())
}

// calls are the numbers of system calls that tests have refused.
var calls = map[string]uint32{
	"bind":              unix.SYS_BIND,
	"fcntl":             unix.SYS_FCNTL,
	"ftruncate":         unix.SYS_FTRUNCATE,
	"getrandom":         unix.SYS_GETRANDOM,
	"getsockopt":        unix.SYS_GETSOCKOPT,
	"listen":            unix.SYS_LISTEN,
	"accept4":           unix.SYS_ACCEPT4,
	"connect":           unix.SYS_CONNECT,
	"membarrier":        unix.SYS_MEMBARRIER,
	"memfd_create":      unix.SYS_MEMFD_CREATE,
	"mmap":              unix.SYS_MMAP,
	"pidfd_open":        unix.SYS_PIDFD_OPEN,
	"pidfd_send_signal": unix.SYS_PIDFD_SEND_SIGNAL,
	"ppoll":             unix.SYS_PPOLL,
	"prctl":             unix.SYS_PRCTL,
	"prlimit64":         unix.SYS_PRLIMIT64,
	"process_vm_readv":  unix.SYS_PROCESS_VM_READV,
	"process_vm_writev": unix.SYS_PROCESS_VM_WRITEV,
	"readlinkat":        unix.SYS_READLINKAT,
	"recvfrom":          unix.SYS_RECVFROM,
	"recvmmsg":          unix.SYS_RECVMMSG,
	"recvmsg":           unix.SYS_RECVMSG,
	"sched_getaffinity": unix.SYS_SCHED_GETAFFINITY,
	"sched_setaffinity": unix.SYS_SCHED_SETAFFINITY,
	"sendmmsg":          unix.SYS_SENDMMSG,
	"sendmsg":           unix.SYS_SENDMSG,
	"sendto":            unix.SYS_SENDTO,
	"setsockopt":        unix.SYS_SETSOCKOPT,
	"socketpair":        unix.SYS_SOCKETPAIR,
	"sysinfo":           unix.SYS_SYSINFO,
	"waitid":            unix.SYS_WAITID,
}

var errnos = map[string]unix.Errno{"EPERM": unix.EPERM, "ENOSYS": unix.ENOSYS}

// refuse installs a filter under which a system call only returns an error: CALL, ERRNO, and perhaps ARG, VALUE.
func refuse(f []string) error {
	nr, known := calls[f[0]]
	errno, named := errnos[f[1]]
	if !known || !named {
		return errors.New("unknown call or error")
	}
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	equal := func(v uint32, otherwise uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: v, Jf: otherwise}
	}
	end := func(v uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: v} }
	program := []unix.SockFilter{load(0), equal(nr, 1)}
	if len(f) == 4 {
		arg, err := strconv.ParseUint(f[2], 10, 3)
		if err != nil {
			return err
		}
		value, err := strconv.ParseUint(f[3], 0, 32)
		if err != nil {
			return err
		}
		// In struct seccomp_data the arguments begin at 16; the low half of each comes first.
		program = []unix.SockFilter{load(0), equal(nr, 3), load(16 + 8*uint32(arg)), equal(uint32(value), 1)}
	}
	program = append(program, end(unix.SECCOMP_RET_ERRNO|uint32(errno)), end(unix.SECCOMP_RET_ALLOW))
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	if e != 0 {
		return fmt.Errorf("seccomp: %w", e)
	}
	return nil
}

// fewFiles sets both limits, so that the program does not raise the one to the other.
func fewFiles(n string) error {
	most, err := strconv.ParseUint(n, 10, 32)
	if err != nil {
		return err
	}
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: most})
}

// hide mounts nothing over dir, in a mount namespace that only this thread has.
func hide(dir string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	return unix.Mount("none", dir, "tmpfs", unix.MS_RDONLY, "")
}
