//go:build unix

package launch

import (
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/comm/boot"
)

// heardTime bounds the wait for the end of a rank's PMI connection after its own, when somebody else holds it.
const heardTime = 300 * time.Millisecond

// pmiFD is the number of the PMI socket in a rank: the first after the standard ones.
const pmiFD = 3

// rank is one process of the job.
type rank struct {
	cmd    *exec.Cmd
	pid    int
	status status // set before the rank's number is sent to job.exits

	mu    sync.Mutex
	alive bool // not reaped, so that pid is its own; guarded by mu
}

// startRank starts one rank and the goroutine that waits for it.
func (j *job) startRank(i int, env []string) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(j.spec.Argv[0], j.spec.Argv[1:]...)
	cmd.Env = rankEnv(env, j.jobID(), i, j.spec.Ranks, pmiFD)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = childAttr()
	if i == 0 && j.spec.Stdin != nil {
		cmd.Stdin = j.spec.Stdin
	}
	outputs, err := j.connectOutput(cmd, i)
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
	j.ranks = append(j.ranks, r)
	j.spec.Guard.Add(r.pid)
	j.srv.Attach(i, ours)
	j.wg.Go(func() {
		j.await(i, r)
		outputs.finish()
		j.exits <- i
	})
	return nil
}

// outputs are the pipes between a rank and the launcher's streams.
type outputs struct {
	drains []*drain
	theirs []*os.File // the rank's ends
	flush  []func() error
}

// connectOutput gives the rank the launcher's own streams, unless its lines are to be marked, or the streams are not
// files.
func (j *job) connectOutput(cmd *exec.Cmd, i int) (o outputs, err error) {
	if cmd.Stdout, err = j.connectStream(&o, j.out, i); err == nil {
		cmd.Stderr, err = j.connectStream(&o, j.err, i)
	}
	return o, err
}

func (j *job) connectStream(o *outputs, s *shared, i int) (*os.File, error) {
	f, isFile := s.w.(*os.File)
	if isFile && !j.spec.Prefix {
		return f, nil
	}
	var to io.Writer = s
	if j.spec.Prefix {
		p := &prefixer{out: s, prefix: "[" + strconv.Itoa(i) + "] "}
		o.flush = append(o.flush, p.flush)
		to = p
	}
	d, theirs, err := newDrain(to)
	if err != nil {
		return nil, err
	}
	o.drains, o.theirs = append(o.drains, d), append(o.theirs, theirs)
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

// await waits for the end of the process, ends what it has left in its group, and notes how it ended.
func (j *job) await(i int, r *rank) {
	if waitNoReap(r.pid) {
		r.endGroup() // the leader is not reaped, so the group's number is still its own
		_ = r.cmd.Wait()
	} else {
		_ = r.cmd.Wait()
		r.endGroup() // in the moment since, the number can hardly have been given away
	}
	j.spec.Guard.Remove(r.pid)
	select { // what it has said last, an abort or a finalize, counts before its exit
	case <-j.heard[i]:
	case <-time.After(heardTime): // somebody else holds its socket
	}
	r.status = statusOf(r.cmd.ProcessState)
	r.status.joined, r.status.left = j.srv.Joined(i), j.srv.Finalized(i)
}

func (r *rank) endGroup() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = unix.Kill(-r.pid, unix.SIGKILL)
	r.alive = false
}

func statusOf(ps *os.ProcessState) status {
	ws, ok := ps.Sys().(syscall.WaitStatus)
	if !ok {
		return status{code: ps.ExitCode()}
	}
	if ws.Signaled() {
		return status{signal: ws.Signal(), core: ws.CoreDump()}
	}
	return status{code: ws.ExitStatus()}
}

// killAll sends sig to the group of every living rank.
func (j *job) killAll(sig syscall.Signal) {
	for _, r := range j.ranks {
		r.mu.Lock()
		if r.alive {
			_ = unix.Kill(-r.pid, sig)
		}
		r.mu.Unlock()
	}
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
		return nil, nil, err
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

func (j *job) jobID() string { return boot.IDFromKey(j.key) }
