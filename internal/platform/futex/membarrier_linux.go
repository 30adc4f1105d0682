package futex

import "golang.org/x/sys/unix"

// Commands of membarrier(2).
const (
	cmdGlobalExpedited          = 1 << 1
	cmdRegisterGlobalExpedited  = 1 << 2
	cmdPrivateExpedited         = 1 << 3
	cmdRegisterPrivateExpedited = 1 << 4
)

// register asks the kernel for both registrations at a time, since each waits for a grace period of its own. It blocks,
// and tells Go's scheduler so.
func register() bool {
	global := make(chan bool)
	go func() { global <- registerFor(cmdRegisterGlobalExpedited) }()
	private := registerFor(cmdRegisterPrivateExpedited)
	return <-global && private
}

func registerFor(cmd uintptr) bool {
	_, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, cmd, 0, 0)
	return errno == 0
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
