package futex

import (
	"sync"
	"sync/atomic"
)

// registered is what the kernel has said to this process. It belongs to the process, as the kernel's record does.
var registered registration

// registration asks the kernel once. The kernel answers after one or two grace periods of RCU, 10 to 60 ms in a process
// with threads. So a goroutine of its own asks, and the message path only looks.
type registration struct {
	begin sync.Once
	done  chan struct{} // made by begin, closed when ok is known
	ok    atomic.Bool
}

// startOnce asks by register, if nobody has asked yet. It does not wait.
func (r *registration) startOnce(register func() bool) {
	r.begin.Do(func() {
		r.done = make(chan struct{})
		go func() {
			r.ok.Store(register())
			close(r.done)
		}()
	})
}

// RegisterMembarrier makes this process a target of Membarrier, its own and those of other processes. It tells whether
// the kernel offers both commands. Membarrier orders no others. The first call may block for tens of milliseconds, and
// so may calls beside it: nobody who holds a lock of the message path calls it. MembarrierReady does not block.
func RegisterMembarrier() bool {
	registered.startOnce(register)
	<-registered.done
	return registered.ok.Load()
}

// MembarrierReady tells whether RegisterMembarrier has succeeded. It does not wait. The first call begins the
// registration, so a later call returns true where the kernel offers the commands.
func MembarrierReady() bool {
	registered.startOnce(register)
	return registered.ok.Load()
}
