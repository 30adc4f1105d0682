package futex

import "golang.org/x/sys/unix"

// Commands of membarrier(2).
const (
	cmdGlobalExpedited          = 1 << 1
	cmdRegisterGlobalExpedited  = 1 << 2
	cmdPrivateExpedited         = 1 << 3
	cmdRegisterPrivateExpedited = 1 << 4
)

// RegisterMembarrier makes this process a target of its own and of other processes' barriers, and says whether the
// kernel offers both. It may be called any number of times. Until every process concerned has registered, Membarrier
// in one does not order the others.
func RegisterMembarrier() bool {
	return membarrier(cmdRegisterGlobalExpedited) && membarrier(cmdRegisterPrivateExpedited)
}

// Membarrier makes every running thread of every registered process pass a full memory barrier before it returns, so
// that the threads on the frequent side of a store-then-load agreement need no fence of their own. False means that
// the kernel refused and nothing is ordered.
func Membarrier() bool { return membarrier(cmdGlobalExpedited) }

// MembarrierPrivate is Membarrier for the threads of this process only; it interrupts no other process.
func MembarrierPrivate() bool { return membarrier(cmdPrivateExpedited) }

func membarrier(cmd uintptr) bool {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, cmd, 0, 0)
	return errno == 0
}
