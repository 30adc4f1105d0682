//go:build !unix

package launch

import (
	"io"
	"syscall"
)

// Run says that it cannot run a job here.
func Run(s *Spec) (code int, err error) {
	if err := s.check(); err != nil {
		return 2, err
	}
	return 126, ErrPlatform
}

// HelperMain says that it cannot run ranks here.
func HelperMain(io.Reader, *Guard) error { return ErrPlatform }

// OwnDir says that nothing was copied here.
func OwnDir(string, string) error { return ErrPlatform }

func guardAttr() *syscall.SysProcAttr { return nil }

// KillGroup kills the process group led by pid.
func KillGroup(int) {}

// GroupAttr would have a process lead a group of its own.
func GroupAttr() *syscall.SysProcAttr { return nil }
