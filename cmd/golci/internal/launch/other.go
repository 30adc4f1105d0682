//go:build !unix

package launch

import "syscall"

// Team is where the ranks of a job would run.
type Team any

// Run says that it cannot run a job here.
func Run(s *Spec, _ Team) (code int, err error) {
	if err := s.checkSpec(0); err != nil {
		return 2, err
	}
	return NotStarted, ErrPlatform
}

func guardAttr() *syscall.SysProcAttr { return nil }

// KillGroup kills the process group led by pid.
func KillGroup(int) {}

// GroupAttr would have a process lead a group of its own.
func GroupAttr() *syscall.SysProcAttr { return nil }
