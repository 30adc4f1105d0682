//go:build unix

package launch

import "syscall"

// guardAttr takes the guard out of the terminal's reach: a Ctrl-C is for the launcher.
func guardAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// KillGroup kills the process group led by pid.
func KillGroup(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// GroupAttr has a process lead a group of its own.
func GroupAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
