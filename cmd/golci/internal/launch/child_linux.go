package launch

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// childAttr puts a rank into a process group of its own, so that signals reach it once and with everything it starts,
// and has the kernel kill it when the launcher's thread ends, even by SIGKILL. Setting the death signal is followed by
// a look whether the parent is still there, so there is no gap.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// waitNoReap waits until the process has ended and leaves it a zombie, so that its number stays taken. It returns
// false when it cannot.
func waitNoReap(pid int) bool {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return err == nil
		}
	}
}
