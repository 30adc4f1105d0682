//go:build unix

package launch

import (
	"os/exec"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Process leads a process group of its own, and dies with the thread that has started it where the system can do that.
type Process struct {
	cmd   *exec.Cmd
	guard *Guard

	mu        sync.Mutex
	alive     bool // not reaped, so that the number is its own; guarded by mu
	signalled bool // Kill has found it running; guarded by mu
}

// StartProcess starts cmd, and tells the guard, which may be nil. One goroutine must Wait for the process.
func StartProcess(cmd *exec.Cmd, guard *Guard) (*Process, error) {
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	guard.Add(cmd.Process.Pid)
	return &Process{cmd: cmd, guard: guard, alive: true}, nil
}

// PID is the number of the process and of its group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Wait waits for the end of the process, ends the rest of its group, and reports how the process has ended.
func (p *Process) Wait() (st Status) {
	if waitNoReap(p.PID()) {
		p.endGroup() // the leader is not reaped, so the group's number is still its own
		st = p.reapProcess()
	} else {
		st = p.reapProcess()
		p.endGroup() // in the moment since, the number can hardly have been given away
	}
	p.guard.Remove(p.PID())
	p.mu.Lock()
	st.Own = !p.signalled
	p.mu.Unlock()
	return st
}

// Kill sends sig to the group of the process, if the process is alive.
func (p *Process) Kill(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.alive {
		p.signalled = p.signalled || !hasEnded(p.PID())
		_ = unix.Kill(-p.PID(), sig)
	}
}

// reapProcess waits for the end of the process with waitid, as package os does, or with wait4 where the system refuses
// that.
func (p *Process) reapProcess() Status {
	_ = p.cmd.Wait()
	if ps := p.cmd.ProcessState; ps != nil {
		return statusOf(ps.Sys().(syscall.WaitStatus))
	}
	for {
		var ws syscall.WaitStatus
		switch _, err := syscall.Wait4(p.PID(), &ws, 0, nil); err {
		case nil:
			return statusOf(ws)
		case syscall.EINTR:
		default:
			return Status{Code: 1}
		}
	}
}

func (p *Process) endGroup() {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = unix.Kill(-p.PID(), unix.SIGKILL)
	p.alive = false
}

func statusOf(ws syscall.WaitStatus) Status {
	if ws.Signaled() {
		return Status{Signal: ws.Signal(), Core: ws.CoreDump()}
	}
	return Status{Code: ws.ExitStatus()}
}
