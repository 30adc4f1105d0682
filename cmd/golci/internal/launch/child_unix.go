//go:build unix && !linux

package launch

import "syscall"

// childAttr puts a rank into a process group of its own. This system has no parent death signal. So the guard ends the
// ranks when the launcher is killed, and a rank that has joined notices the end of its PMI connection.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// waitNoReap would wait for the end of the process without reaping it; here it cannot.
func waitNoReap(int) bool { return false }

// hasEnded cannot tell here.
func hasEnded(int) bool { return false }
