package futex

import "golang.org/x/sys/unix"

// Commands of membarrier(2).
const (
	cmdGlobalExpedited          = 1 << 1
	cmdRegisterGlobalExpedited  = 1 << 2
	cmdPrivateExpedited         = 1 << 3
	cmdRegisterPrivateExpedited = 1 << 4
)

// RegisterMembarrier makes this process a target of Membarrier, its own and those of other processes. It tells whether
// the kernel offers both commands. It may be called again. Membarrier orders no others.
func RegisterMembarrier() bool {
	return membarrier(cmdRegisterGlobalExpedited) && membarrier(cmdRegisterPrivateExpedited)
}

// Membarrier makes every running thread of every registered process pass a full memory barrier before it returns. It
// serves protocols in which two sides each store and then load. The frequent side needs no fence if the rare side
// calls Membarrier. False means that the kernel has refused, and nothing is ordered.
func Membarrier() bool { return membarrier(cmdGlobalExpedited) }

// MembarrierPrivate is Membarrier for the threads of this process only. It does not interrupt other processes.
func MembarrierPrivate() bool { return membarrier(cmdPrivateExpedited) }

func membarrier(cmd uintptr) bool {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, cmd, 0, 0)
	return errno == 0
}
