//go:build unix

package launch

import (
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/internal/job/boot"
)

// heardTime bounds the wait for the end of a rank's PMI connection, which another process may hold, after its own end.
const heardTime = time.Second

// pmiFD is the number of the PMI socket in a rank: the first after the standard ones.
const pmiFD = 3

// startRank starts one rank and the goroutine that waits for it.
func (c *LocalRanks) startRank(i int, of *boot.Command, env []string) error {
	ours, theirs, err := socketPair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := exec.Command(of.Argv[0], of.Argv[1:]...)
	cmd.Dir = of.Dir
	cmd.Env = rankEnv(env, c.JobID, rankSlot{rank: i - c.Base, size: c.Size, local: i - c.First, locals: c.count}, pmiFD)
	cmd.ExtraFiles = []*os.File{theirs}
	if i == 0 && c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	outputs, err := c.connectOutput(cmd, i)
	var p *Process
	if err == nil {
		p, err = StartProcess(cmd, c.Guard)
	}
	outputs.releaseEnds()
	if err != nil {
		ours.Close()
		outputs.finishOutput()
		return err
	}
	c.ranks = append(c.ranks, p)
	c.Owner.Attach(i, ours)
	c.wg.Go(func() {
		st := p.Wait()
		select { // what it has said last, an abort or a finalize, counts before its exit
		case <-c.Owner.Drained(i):
		case <-time.After(heardTime): // somebody else holds its socket
		}
		outputs.finishOutput()
		c.Owner.Ended(i, st)
	})
	return nil
}

// outputs are the pipes between a rank and the launcher's streams.
type outputs struct {
	drains []*drain
	theirs []*os.File // the rank's ends
	sinks  []Sink
}

func (c *LocalRanks) connectOutput(cmd *exec.Cmd, i int) (o outputs, err error) {
	if cmd.Stdout, err = o.connectSink(c.Owner.Output(i, 1)); err == nil {
		cmd.Stderr, err = o.connectSink(c.Owner.Output(i, 2))
	}
	return o, err
}

func (o *outputs) connectSink(s Sink, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	if s.own {
		o.theirs = append(o.theirs, s.file)
	}
	if s.file != nil {
		return s.file, nil
	}
	d, theirs, err := newDrain(s.To)
	if err != nil {
		return nil, err
	}
	o.drains, o.theirs, o.sinks = append(o.drains, d), append(o.theirs, theirs), append(o.sinks, s)
	return theirs, nil
}

// releaseEnds closes the rank's ends in this process.
func (o *outputs) releaseEnds() {
	for _, f := range o.theirs {
		f.Close()
	}
}

// finishOutput waits until all that the rank has written has come out.
func (o *outputs) finishOutput() {
	for _, d := range o.drains {
		d.finishCopy()
	}
	for _, s := range o.sinks {
		s.Done()
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
