//go:build unix

package far

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/observe/settings"
)

// machine is the head's side of one machine: the remote shell, the helper that it started, and the ranks there. The
// goroutine of launch.Run sets its fields. While the job runs they are only read.
type machine struct {
	cluster *cluster
	index   int
	host    Host
	first   int // its ranks: first .. first+count-1
	count   int

	cmd    *exec.Cmd
	shell  *launch.Process // of cmd, the remote shell; nil before launch
	in     *os.File        // to the standard input of the shell; the helper ends when it ends
	stdout *os.File        // from its standard output

	invited    chan struct{} // closed when the helper has been invited by the shell, or cannot be
	complaints *complaints   // of the remote shell; nil where there is none
	retry      retryPolicy   // with a machine that is not there yet
	tried      callReport
	timer      *time.Timer // to the next call of it; nil before

	ended  chan struct{} // closed when the remote shell has
	link   *link         // set when the helper has called back
	cores  int
	takes  chan outputItem // output of the ranks, and their ends, in order
	inOK   chan bool       // the standard input of rank 0 has been taken; false: no more is wanted
	fileOK chan struct{}   // a piece of the program has been written
	sinks  []launch.Sink   // by rank - first, and stream
	conns  []*conn         // by rank - first
	ready  chan struct{}   // closed when the tables above are made
	once   sync.Once       // the loss of the machine
}

// outputItem is something that waits for the launcher's own output: a piece of a stream, or the end of a rank.
type outputItem struct {
	rank   int
	stream int // 0: the end of the rank
	data   []byte
	status launch.Status
}

// launchHelper starts the remote shell, or the helper itself on this machine. It must be called on the thread of
// launch.Run: the kernel ends the shell when that thread ends with this process.
func (m *machine) launchHelper() error {
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
	m.in, m.stdout = in, said
	argv := shellFor(m.cluster.cfg.Shell, m.host.Name)
	if m.host.isLocal() {
		argv = []string{m.cluster.cfg.Self, helperCommand}
		if m.inherits() {
			argv = append(argv, helperInput)
		}
	}
	m.cmd = exec.Command(argv[0], argv[1:]...)
	m.cmd.Env = slices.DeleteFunc(os.Environ(), settings.IsPlace) // srun, for one, would send a secret across the network
	m.cmd.Stdin, m.cmd.Stdout, m.cmd.Stderr = theirIn, theirOut, os.Stderr
	if m.inherits() {
		m.cmd.ExtraFiles = []*os.File{m.cluster.job.Spec().Stdin}
	}
	if !m.host.isLocal() {
		theirErr, err := m.stderrFor()
		if err != nil {
			return err
		}
		defer theirErr.Close()
		m.cmd.Stderr = theirErr
	}
	if m.shell, err = launch.StartProcess(m.cmd, m.cluster.job.Spec().Guard); err != nil {
		return err
	}
	m.cluster.job.Detail("%s: process %d: %s", m.host.Name, m.shell.PID(), strings.Join(argv, " "))
	shell, ended := m.shell, m.ended
	go func() {
		shell.Wait()
		close(ended)
	}()
	return nil
}

// inherits tells whether rank 0 gets the standard input itself: then nothing is read from it that the rank does not read.
func (m *machine) inherits() bool {
	return m.index == 0 && m.host.isLocal() && m.cluster.job.Spec().Stdin != nil
}

// errShell: the remote shell has ended, so the helper has nobody to tell it.
var errShell = errors.New("its remote shell has ended")

// invite tells the shell to start the helper, and gives that its ticket. It runs in a goroutine of its own.
func (m *machine) invite(t *joinTicket) (err error) {
	defer func() {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) {
			err = errShell
		}
	}()
	if !m.host.isLocal() {
		if err := m.converse(); err != nil {
			return err
		}
	}
	_, err = m.in.Write(append(encodeJSON(t), '\n'))
	// Nobody listens to what comes from now on, but the writer must not notice.
	go func() { _, _ = io.Copy(io.Discard, m.stdout) }()
	return err
}

func (m *machine) converse() error {
	p, err := m.cluster.program()
	if err != nil {
		return err
	}
	mark := "golci-" + m.cluster.mark
	if _, err := io.WriteString(m.in, helperScript(mark, p)); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(m.stdout, maxShellLine)
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
			_, _ = os.Stderr.Write(makePrintable(line)) // of a login script, or a question of the remote shell
		case words[1] == wordReady:
			return nil
		case words[1] == wordCopy && len(words) == 4:
			if err := m.copySelf(m.cluster.cfg.Self, words[2], words[3]); err != nil {
				return err
			}
		default:
			return errors.New(string(makePrintable([]byte(strings.Join(words[2:], " ")))))
		}
	}
}

// maxShellLine bounds a line of a machine's output before its helper runs.
const maxShellLine = 64 << 10

// makePrintable replaces in place the characters that a terminal might take for a command, such as escapes.
func makePrintable(line []byte) []byte {
	for i, b := range line {
		if b < ' ' && b != '\t' && b != '\n' && b != '\r' || b == 0x7f {
			line[i] = '?'
		}
	}
	return line
}

// copySelf sends this program to a machine that does not have it.
func (m *machine) copySelf(path, system, machine string) error {
	if !fitsMachine(system, machine) {
		return fmt.Errorf("a copy of this golci does not run on %s %s; say with -golci where there is one", system, machine)
	}
	m.cluster.job.Detail("%s: copying golci there", m.host.Name)
	src, err := os.Open(path)
	if err != nil {
		return err
	}
	defer src.Close()
	_, err = io.Copy(m.in, src)
	return err
}

// byeTime is how long helper and remote shell have to end by themselves.
const byeTime = 2 * time.Second

// releaseHelper ends the helper and the remote shell. It sends a farewell and waits up to byeTime for the shell to
// exit, then kills it. If the helper has never called back, it kills the shell at once. At last it closes connection
// and pipes. It returns when the shell has ended.
func (m *machine) releaseHelper() {
	if m.link != nil {
		m.link.sendFrame(frameBye, 0, nil)
		m.link.flushQueue(byeTime)
	}
	if m.shell != nil {
		patience := byeTime
		if m.link == nil { // nobody has come who could end by himself
			patience = 0
		}
		select {
		case <-m.ended:
		case <-time.After(patience):
		}
		m.shell.Kill(syscall.SIGKILL)
		<-m.ended
		if m.complaints != nil {
			m.complaints.settleLines()
		}
	}
	if m.in != nil { // not before: the end of its input would be another reason for the helper to end
		m.in.Close()
	}
	if m.timer != nil {
		m.timer.Stop()
	}
	if m.link != nil {
		m.link.closeLink()
	}
	if m.stdout != nil {
		m.stdout.Close()
	}
}

func (m *machine) kill(sig syscall.Signal) {
	if m.link != nil {
		m.link.sendFrame(frameSignal, 0, []byte(unix.SignalName(sig)))
	}
}
