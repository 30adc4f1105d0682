//go:build unix

package far

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// errLate: the remote shell has ended because the machine is not there yet.
var errLate = errors.New("the machine cannot be reached")

// complaints reads the standard error of a remote shell. It passes all lines on but those that tell of a machine that
// is not there yet: these are shown when the machine is given up.
type complaints struct {
	done chan struct{} // closed at the end of the stream

	mu   sync.Mutex // guards what follows; nothing is locked under it
	late []string
	pass bool // the machine is there: keep no more
}

// mostLate bounds the lines that are kept.
const mostLate = 8

func newComplaints(from io.ReadCloser, to io.Writer) *complaints {
	c := &complaints{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer from.Close()
		lines := bufio.NewReaderSize(from, maxShellLine)
		for {
			line, err := lines.ReadSlice('\n') // a line that is too long comes in pieces
			if !c.keepLine(string(line)) && !strings.HasPrefix(string(line), noise) {
				_, _ = to.Write(line)
			}
			if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
				return
			}
		}
	}()
	return c
}

// keepLine keeps line if it tells of a machine that is not there.
func (c *complaints) keepLine(line string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pass || !isLate(line) || len(c.late) == mostLate {
		return false
	}
	c.late = append(c.late, string(makePrintable([]byte(strings.TrimSpace(line)))))
	return true
}

// showThrough shows what was kept, and keeps nothing from now on: the machine is there.
func (c *complaints) showThrough(to io.Writer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, line := range c.late {
		fmt.Fprintln(to, line)
	}
	c.late, c.pass = nil, true
}

// settleTime is how long the last lines of a remote shell may come after its end.
const settleTime = 200 * time.Millisecond

func (c *complaints) settleLines() {
	select {
	case <-c.done:
	case <-time.After(settleTime): // a process of its own may hold the stream open
	}
}

// why is the reason for which the machine is not there; "" where no line has told of one. The remote shell has ended.
func (c *complaints) why() string {
	c.settleLines()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.late) == 0 {
		return ""
	}
	return c.late[len(c.late)-1]
}

// shellEnd returns why the remote shell has ended; it is never nil. The error wraps errShell, with the exit status if
// that is not 0. It also wraps errLate if the shell's standard error says that the machine cannot be reached yet. The
// caller has waited for m.ended.
func (m *machine) shellEnd() error {
	end := errShell
	if ps := m.cmd.ProcessState; ps != nil && !ps.Success() {
		end = fmt.Errorf("%w: %v", errShell, ps)
	}
	if m.complaints == nil {
		return end
	}
	if why := m.complaints.why(); why != "" {
		return fmt.Errorf("%w: %s; %w", errLate, why, end)
	}
	return end
}

// callAgain has the machine called once more after a pause, if err says that it was not there, and there is time left.
// Its number comes by f.retries then.
func (f *cluster) callAgain(t machineError) bool {
	m := f.machines[t.host]
	if m.link != nil || !errors.Is(t.err, errLate) {
		return false
	}
	d, ok := m.retry.nextPause()
	if !ok {
		return false
	}
	f.job.Detail("%s: %v; again in %v", m.host.Name, t.err, d)
	if text := m.tried.waitAfter(d, m.host.Name, t.err, f.cfg.Connect); text != "" {
		f.job.Spec().Say(text)
	}
	m.timer = time.AfterFunc(d, func() { f.retries <- t.host })
	return true
}

// recallMachine calls the machine once more.
func (f *cluster) recallMachine(i int) error {
	m := f.machines[i]
	m.in.Close()
	m.stdout.Close()
	<-m.invited // which has used both
	m.ended = make(chan struct{})
	return f.callMachine(i)
}

// callMachine starts the remote shell of a machine, and has the helper there invited. It must be called on the thread
// of launch.Run, as machine.launchHelper.
func (f *cluster) callMachine(i int) error {
	m := f.machines[i]
	if err := m.launchHelper(); err != nil {
		return fmt.Errorf("host %s: %w", m.host.Name, err)
	}
	t := &joinTicket{Protocol: protocol, Host: i, Name: m.host.Name, Addrs: f.at, Key: f.keys[i], Silence: f.cfg.Silence}
	invited := make(chan struct{})
	m.invited = invited
	f.wg.Go(func() {
		defer close(invited)
		if err := m.invite(t); err != nil && !errors.Is(err, errShell) {
			f.missing <- machineError{i, err}
		}
	})
	go func() {
		<-m.ended
		select {
		case <-invited: // which may know more
		case <-time.After(byeTime):
		}
		f.missing <- machineError{i, m.shellEnd()}
	}()
	return nil
}

// stderrFor is what a remote shell gets as its standard error: a pipe whose reader m.complaints is. The caller closes
// it.
func (m *machine) stderrFor() (*os.File, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	m.complaints = newComplaints(from, os.Stderr)
	return to, nil
}
