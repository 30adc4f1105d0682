//go:build unix

package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// far is the head's side of one machine: the remote shell, the helper that it started, and the ranks there. The
// goroutine of Run sets its fields. While the job runs they are only read.
type far struct {
	fleet *fleet
	index int
	host  Host
	first int // its ranks: first .. first+count-1
	count int

	shell *rank // the remote shell's process; nil before launch
	guard *Guard
	in    *os.File // to the standard input of the shell; the helper ends when it ends
	said  *os.File // from its standard output

	ended  chan struct{} // closed when the remote shell has
	link   *link         // set when the helper has called back
	cores  int
	takes  chan taken    // output of the ranks, and their ends, in order
	inOK   chan bool     // the standard input of rank 0 has been taken; false: no more is wanted
	fileOK chan struct{} // a piece of the program has been written
	sinks  []sink        // by rank - first, twice: standard output and error
	conns  []*farConn    // by rank - first
	ready  chan struct{} // closed when the tables above are made
	once   sync.Once     // the loss of the machine
}

// taken is something that waits for the launcher's own output: a piece of a stream, or the end of a rank.
type taken struct {
	rank   int
	stream int // 0: the end of the rank
	data   []byte
	status status
}

// launch starts the remote shell, or the helper itself on this machine. It must be called on the thread of Run: the
// kernel ends the shell when that thread ends with this process.
func (f *far) launch() error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close()
	said, theirOut, err := os.Pipe()
	if err != nil {
		in.Close()
		return err
	}
	defer theirOut.Close()
	f.in, f.said = in, said
	argv := append(append([]string{}, f.fleet.spec.Far.Shell...), f.host.Name, remoteCommand)
	if f.host.local() {
		argv = []string{f.fleet.spec.Far.Self, HelperCommand}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirIn, theirOut, os.Stderr
	cmd.SysProcAttr = childAttr()
	if err := cmd.Start(); err != nil {
		return err
	}
	f.shell = &rank{cmd: cmd, pid: cmd.Process.Pid, alive: true}
	f.fleet.job.detail("%s: process %d: %s", f.host.Name, f.shell.pid, strings.Join(argv, " "))
	f.guard.Add(f.shell.pid)
	go f.await()
	return nil
}

// await waits for the end of the remote shell, and ends the rest of its group here.
func (f *far) await() {
	waitNoReap(f.shell.pid)
	f.shell.endGroup()
	f.shell.reap()
	f.guard.Remove(f.shell.pid)
	close(f.ended)
}

// errShell: the remote shell has ended, so the helper has nobody to tell it.
var errShell = errors.New("its remote shell has ended")

// shellEnd says how the remote shell has ended; ended is closed.
func (f *far) shellEnd() error {
	if ps := f.shell.cmd.ProcessState; ps != nil && !ps.Success() {
		return fmt.Errorf("%w: %v", errShell, ps)
	}
	return errShell
}

// invite has the shell start the helper, and gives that its ticket. It runs in a goroutine of its own.
func (f *far) invite(t *ticket) (err error) {
	defer func() {
		if errors.Is(err, syscall.EPIPE) {
			err = errShell
		}
	}()
	if !f.host.local() {
		if err := f.converse(); err != nil {
			return err
		}
	}
	_, err = f.in.Write(append(encode(t), '\n'))
	// Nobody listens to what comes from now on, but the writer must not notice.
	go func() { _, _ = io.Copy(io.Discard, f.said) }()
	return err
}

// converse holds the conversation with the script.
func (f *far) converse() error {
	p, err := f.fleet.program()
	if err != nil {
		return err
	}
	mark := "golci-" + f.fleet.mark
	if _, err := io.WriteString(f.in, script(mark, p)); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(f.said, maxShellLine)
	for {
		line, err := lines.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("it has said a line of more than %d bytes", maxShellLine)
		}
		if err != nil {
			return errShell
		}
		words := strings.Fields(string(line))
		switch {
		case len(words) < 2 || words[0] != mark:
			_, _ = os.Stderr.Write(printable(line)) // of a login script, or a question of the remote shell
		case words[1] == wordReady:
			return nil
		case words[1] == wordCopy && len(words) == 4:
			if err := f.copySelf(f.fleet.spec.Far.Self, words[2], words[3]); err != nil {
				return err
			}
		default:
			return errors.New(string(printable([]byte(strings.Join(words[2:], " ")))))
		}
	}
}

// maxShellLine bounds a line of a machine's output before its helper runs.
const maxShellLine = 64 << 10

// printable replaces in place the characters that a terminal might take for a command, such as the escapes that move
// its cursor.
func printable(line []byte) []byte {
	for i, b := range line {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f {
			line[i] = '?'
		}
	}
	return line
}

// copySelf sends this program to a machine that does not have it.
func (f *far) copySelf(path, system, machine string) error {
	if !fits(system, machine) {
		return fmt.Errorf("a copy of this golci does not run on %s %s; say with -golci where there is one", system, machine)
	}
	f.fleet.job.detail("%s: copying golci there", f.host.Name)
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = io.Copy(f.in, src)
	return err
}

// byeTime is how long helper and remote shell have to end by themselves.
const byeTime = 2 * time.Second

// release ends the helper and the remote shell, and waits for them.
func (f *far) release() {
	if f.link != nil {
		f.link.send(frameBye, 0, nil)
		f.link.flush(byeTime)
	}
	if f.shell != nil {
		patience := byeTime
		if f.link == nil { // nobody has come who could end by himself
			patience = 0
		}
		select {
		case <-f.ended:
		case <-time.After(patience):
		}
		f.shell.kill(syscall.SIGKILL)
		<-f.ended
	}
	if f.in != nil { // not before: the end of its input would be another reason for the helper to end
		f.in.Close()
	}
	if f.link != nil {
		f.link.close()
	}
	if f.said != nil {
		f.said.Close()
	}
}

// kill has the helper send sig to its ranks.
func (f *far) kill(sig syscall.Signal) {
	if f.link != nil {
		f.link.send(frameSignal, 0, []byte(nameOf(sig)))
	}
}
