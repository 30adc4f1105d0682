//go:build unix

package launch

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// heardTime bounds the wait for the end of a rank's PMI connection after the rank's own end, if another process holds
// the connection.
const heardTime = time.Second

// pmiFD is the number of the PMI socket in a rank: the first after the standard ones.
const pmiFD = 3

// rank is one process of the job.
type rank struct {
	cmd *exec.Cmd
	pid int

	mu    sync.Mutex
	alive bool // not reaped, so that pid is its own; guarded by mu
}

// startRank starts one rank and the goroutine that waits for it.
func (c *crew) startRank(i int, env []string) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(c.argv[0], c.argv[1:]...)
	cmd.Dir = c.dir
	cmd.Env = rankEnv(env, c.jobID, seat{rank: i, size: c.size, local: i - c.first, locals: c.count}, pmiFD)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = childAttr()
	if i == 0 && c.stdin != nil {
		cmd.Stdin = c.stdin
	}
	outputs, err := c.connectOutput(cmd, i)
	if err == nil {
		err = cmd.Start()
	}
	outputs.release()
	if err != nil {
		ours.Close()
		outputs.finish()
		return err
	}
	r := &rank{cmd: cmd, pid: cmd.Process.Pid, alive: true}
	c.ranks = append(c.ranks, r)
	c.guard.Add(r.pid)
	c.attach(i, ours)
	c.wg.Go(func() {
		st := c.await(i, r)
		outputs.finish()
		c.ended(i, st)
	})
	return nil
}

// outputs are the pipes between a rank and the launcher's streams.
type outputs struct {
	drains []*drain
	theirs []*os.File // the rank's ends
	flush  []func() error
}

// connectOutput gives the rank its standard output and error.
func (c *crew) connectOutput(cmd *exec.Cmd, i int) (o outputs, err error) {
	if cmd.Stdout, err = o.connect(c.stream(i, 1)); err == nil {
		cmd.Stderr, err = o.connect(c.stream(i, 2))
	}
	return o, err
}

func (o *outputs) connect(s sink) (*os.File, error) {
	if s.file != nil {
		return s.file, nil
	}
	d, theirs, err := newDrain(s.to)
	if err != nil {
		return nil, err
	}
	o.drains, o.theirs = append(o.drains, d), append(o.theirs, theirs)
	if s.done != nil {
		o.flush = append(o.flush, s.done)
	}
	return theirs, nil
}

// release closes the rank's ends in this process.
func (o *outputs) release() {
	for _, f := range o.theirs {
		f.Close()
	}
}

// finish waits until all that the rank has written has come out.
func (o *outputs) finish() {
	for _, d := range o.drains {
		d.finish()
	}
	for _, f := range o.flush {
		_ = f() // as in drain.copy
	}
}

// await waits for the end of the process, ends the rest of its group, and reports how it ended.
func (c *crew) await(i int, r *rank) status {
	var st status
	if waitNoReap(r.pid) {
		r.endGroup() // the leader is not reaped, so the group's number is still its own
		st = r.reap()
	} else {
		st = r.reap()
		r.endGroup() // in the moment since, the number can hardly have been given away
	}
	c.guard.Remove(r.pid)
	select { // what it has said last, an abort or a finalize, counts before its exit
	case <-c.heard(i):
	case <-time.After(heardTime): // somebody else holds its socket
	}
	return st
}

// reap waits for the end of the process with waitid, as package os does, or with wait4 where the system refuses that.
func (r *rank) reap() status {
	_ = r.cmd.Wait()
	if ps := r.cmd.ProcessState; ps != nil {
		return statusOf(ps.Sys().(syscall.WaitStatus))
	}
	for {
		var ws syscall.WaitStatus
		switch _, err := syscall.Wait4(r.pid, &ws, 0, nil); err {
		case nil:
			return statusOf(ws)
		case syscall.EINTR:
		default:
			return status{code: 1}
		}
	}
}

func (r *rank) endGroup() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = unix.Kill(-r.pid, unix.SIGKILL)
	r.alive = false
}

// kill sends sig to the rank's group, if the rank is alive.
func (r *rank) kill(sig syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.alive {
		_ = unix.Kill(-r.pid, sig)
	}
}

func statusOf(ws syscall.WaitStatus) status {
	if ws.Signaled() {
		return status{signal: ws.Signal(), core: ws.CoreDump()}
	}
	return status{code: ws.ExitStatus()}
}

// socketPair makes a connected pair: ours for the server, theirs to be inherited.
func socketPair() (ours net.Conn, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	theirs = os.NewFile(uintptr(fds[1]), "pmi")
	f := os.NewFile(uintptr(fds[0]), "pmi")
	defer f.Close()
	if ours, err = net.FileConn(f); err != nil {
		theirs.Close()
	}
	return ours, theirs, err
}

func nameOf(sig syscall.Signal) string { return unix.SignalName(sig) }

const stopSignal = unix.SIGSTOP

func isStop(sig syscall.Signal) bool { return sig == unix.SIGTSTP }
