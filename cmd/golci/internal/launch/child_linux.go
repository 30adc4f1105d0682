package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr puts a rank into a process group of its own. So a signal reaches it and everything it starts once. The
// kernel kills the rank when the launcher's thread ends, even by SIGKILL. The child checks that its parent is still
// there after setting the death signal, so there is no gap.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitNoReap waits for the end of the process and leaves it a zombie, whose number stays taken. False: it cannot.
func waitNoReap(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}

// hasEnded tells that the process, which has not been reaped, has ended.
func hasEnded(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|unix.WNOHANG, nil)
	return err == nil && info.Signo != 0
}
