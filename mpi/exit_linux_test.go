package mpi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

// TestRunExit: an Exit of one rank ends Run with its code, whatever the others do; none ends the process.
func TestRunExit(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		for code, want := range map[int]int{3: 3, 255: 255, 256: 0, -1: 255, 0x107: 7} {
			err := Run(n, func(c *Comm) error {
				if c.Rank() == n-1 {
					err := c.Proc().Exit(code)
					var e *ExitError
					if !errors.Is(err, ErrAborted) || !errors.As(err, &e) || e.Rank != n-1 {
						t.Errorf("Exit gave %v", err)
					}
					return err
				}
				return second(Recv(c, one(), AnySource, 0))
			})
			var e *ExitError
			switch {
			case want == 0:
				if err != nil {
					t.Errorf("%d ranks, code %d: %v", n, code, err)
				}
			case !errors.As(err, &e) || e.Code != want || e.Rank != n-1:
				t.Errorf("%d ranks, code %d: %v", n, code, err)
			}
		}
	}
}

// TestRunExitSeveral: of several codes the greatest is the job's.
func TestRunExitSeveral(t *testing.T) {
	const n = 6
	var here sync.WaitGroup // not a Barrier, which the first Exit ends
	here.Add(n)
	err := Run(n, func(c *Comm) error {
		here.Done()
		here.Wait()
		return c.Proc().Exit(20 - c.Rank())
	})
	var e *ExitError
	if !errors.As(err, &e) || e.Rank != 0 || e.Code != 20 {
		t.Errorf("got %v", err)
	}
}

// TestRunExitAfterError: an error that came first is the one that counts, and none is lost.
func TestRunExitAfterError(t *testing.T) {
	err := Run(2, func(c *Comm) error {
		if c.Rank() == 0 {
			return errBoom
		}
		err := second(Recv(c, one(), 0, 0)) // ends with the abort
		return errors.Join(err, c.Proc().Exit(4))
	})
	if !errors.Is(err, errBoom) {
		t.Errorf("got %v", err)
	}
}

// TestRunExitInThread: the threads of all ranks end, too.
func TestRunExitInThread(t *testing.T) {
	err := Run(3, func(c *Comm) error {
		h, err := c.Proc().Go(func() {
			if c.Rank() == 1 {
				_ = c.Proc().Exit(9) // the error is Run's
				return
			}
			_ = second(Recv(c, one(), AnySource, 0))
		})
		if err != nil {
			return err
		}
		return h.Join()
	})
	var e *ExitError
	if !errors.As(err, &e) || e.Code != 9 {
		t.Errorf("got %v", err)
	}
}

// ownRoles are ranks that call Init in ways of their own.
var ownRoles = map[string]func() int{
	"late":             lateMain,
	"stuck in channel": endWith(stuckInChannel), "stuck in blocking": endWith(stuckInBlocking),
}

func init() {
	roles["exit"] = func(p *Proc) error {
		if p.World().Rank() != 1 {
			return second(Recv(p.World(), one(), AnySource, 0))
		}
		fmt.Fprintln(os.Stdout, "last words")
		return p.Exit(13)
	}
}

// TestExitProcess: under a launcher that is not the project's, all ranks end with the code of one.
func TestExitProcess(t *testing.T) {
	j := startProcesses(t, 3, "exit")
	for r, cmd := range j.cmds {
		if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 13 {
			t.Errorf("rank %d: %v\n%s", r, err, j.text())
		}
	}
	if text := j.text(); !strings.Contains(text, "last words") || strings.Contains(text, "error") {
		t.Error(text)
	}
	select {
	case text := <-j.fail:
		t.Errorf("the launcher was told of a failure: %s", text)
	default:
	}
}
