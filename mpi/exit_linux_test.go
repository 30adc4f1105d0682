package mpi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm"
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

const attachHandler = 90

// roleAttach has rank 1 register its handler when its input ends, with a server that polls meanwhile. Rank 0 sends as
// soon as it may.
func roleAttach() int {
	got := make(chan uint64, 1)
	p, err := Init(WithTimeout(20*time.Second), WithServer("dedicated"), WithAttach(func(srv *comm.Server) error {
		if srv.Rank() == 1 {
			fmt.Println("attaching")
			if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
				return err
			}
		}
		return srv.Endpoint().Register(attachHandler, am.Spec{
			Name: "attach", MaxReply: am.NoReply, Run: func(_ *am.Token, args []uint64, _ []byte) { got <- args[0] },
		})
	}))
	if err == nil && p.World().Rank() == 0 {
		err = p.Server().Endpoint().RequestShort(1, attachHandler, 42)
	}
	if err == nil && p.World().Rank() == 1 {
		if x := <-got; x != 42 {
			err = fmt.Errorf("got %d", x)
		}
	}
	if err == nil {
		err = p.Finalize()
	}
	if err != nil {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Println("attached")
	return 0
}

// barriers counts the barriers of the launcher that a rank has come to.
type barriers struct {
	net.Conn
	n *atomic.Int32
}

func (b barriers) Read(p []byte) (int, error) {
	n, err := b.Conn.Read(p)
	b.n.Add(int32(bytes.Count(p[:n], []byte("barrier_in")))) // a rank writes one command at a time, and waits for the answer
	return n, err
}

// TestStartBarrier: nothing arrives at a rank before its handlers are there, though another one waits to send.
func TestStartBarrier(t *testing.T) {
	input, attach, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var come [2]atomic.Int32
	j := &processes{input: input, heard: func(rank int, c net.Conn) net.Conn { return barriers{c, &come[rank]} }}
	j.startAll(t, 2, "attach")
	_ = input.Close()
	j.await(t, 1, "attaching")
	for end := time.Now().Add(patience); come[0].Load() <= come[1].Load(); time.Sleep(time.Millisecond) {
		if len(j.fail) > 0 || time.Now().After(end) {
			t.Fatalf("rank 0 does not wait for rank 1\n%s", j.text())
		}
	}
	_ = attach.Close()
	for r, cmd := range j.cmds {
		if err := cmd.Wait(); err != nil || !strings.Contains(j.outs[r].String(), "attached") {
			t.Errorf("rank %d: %v\n%s", r, err, j.text())
		}
	}
}

// TestAttachFails: the error of a rank's attaching is that of Run.
func TestAttachFails(t *testing.T) {
	ran := false
	err := Run(2, func(*Comm) error { ran = true; return nil }, WithAttach(func(srv *comm.Server) error {
		if srv.Rank() == 1 {
			return errBoom
		}
		return nil
	}))
	if !errors.Is(err, errBoom) || ran {
		t.Errorf("got %v, ran %v", err, ran)
	}
}

// roleBadAttach has Init fail on every rank.
func roleBadAttach() int {
	if _, err := Init(WithAttach(func(*comm.Server) error { return errBoom })); !errors.Is(err, errBoom) {
		fmt.Println("error:", err)
		return 3
	}
	fmt.Println("refused")
	return 0
}

// TestAttachFailsProcess: and that of Init.
func TestAttachFailsProcess(t *testing.T) {
	j := startProcesses(t, 2, "bad attach")
	for r, cmd := range j.cmds {
		if err := cmd.Wait(); err != nil || !strings.Contains(j.outs[r].String(), "refused") {
			t.Errorf("rank %d: %v\n%s", r, err, j.text())
		}
	}
}

// ownRoles are ranks that call Init in ways of their own.
var ownRoles = map[string]func() int{
	"late": lateMain, "attach": roleAttach, "bad attach": roleBadAttach,
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
