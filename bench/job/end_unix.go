//go:build unix

package job

import (
	"os/exec"
	"syscall"
)

// group gives the launcher a process group of its own, so that it can be signalled with all it started.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// terminate asks launcher and ranks to end. Run kills the launcher when it has not ended within the grace.
func terminate(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// reap kills what is left of the group and every process that runs the program named strays.
func reap(cmd *exec.Cmd, strays string) {
	if cmd.Process == nil {
		return
	}
	// The group may be gone already, which is what one hopes for.
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	for _, pid := range running(strays) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
