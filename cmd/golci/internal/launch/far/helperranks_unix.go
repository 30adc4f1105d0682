//go:build unix

package far

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/cmd/golci/internal/launch"
	"github.com/golci/golci/internal/job/boot"
)

func randomName() string { return boot.IDFromKey(boot.NewKey()) }

func (h *helper) startTask(t *task) error {
	count := t.rankCount()
	if h.localRanks != nil || count == 0 {
		return errFrame
	}
	cmds, err := h.commands(t)
	if err != nil {
		return err
	}
	c := &launch.LocalRanks{
		First: t.First, Commands: cmds, Size: t.Size, Env: t.Env, Bind: t.Bind, JobID: t.JobID, Guard: h.guard, Owner: h,
	}
	if err := h.makeParts(t, c); err != nil {
		return err
	}
	for range streams * count {
		h.acks = append(h.acks, make(chan struct{}, 1))
	}
	switch {
	case t.First == 0 && h.given != nil:
		defer h.given.Close()
		c.Stdin = h.given
	case t.First == 0:
		theirs, ours, err := os.Pipe()
		if err != nil {
			return err
		}
		defer theirs.Close()
		c.Stdin, h.input = theirs, ours
		h.wg.Go(h.feed)
	}
	h.mu.Lock()
	h.localRanks = c
	h.lines = make([]*rankPMI, 0, count)
	h.mu.Unlock()
	return c.Start()
}

// commands makes each program of t a path here, and finds its working directory.
func (h *helper) commands(t *task) (out []boot.Command, err error) {
	if err := h.finishCopies(); err != nil {
		return nil, err
	}
	dir := h.directory(t.Dir)
	for i := range t.Commands {
		c := &t.Commands[i]
		if c.Dir == "" {
			c.Dir = dir
		}
		prog := c.Argv[0]
		if prog == "" {
			if c.Argv[0], err = h.program(c); err != nil {
				return nil, err
			}
		} else if dir := exposedDir(prog); dir != "" && !t.Here {
			return nil, fmt.Errorf("every user can write %s, so %s may be another program here: use -preload", dir, prog)
		}
		out = append(out, c.Command)
	}
	return out, nil
}

// makeParts makes a directory for what the ranks record, if the head wants that. Only the ranks' own account can read
// it.
func (h *helper) makeParts(t *task, c *launch.LocalRanks) error {
	if !t.Parts {
		return nil
	}
	dir := filepath.Join(os.TempDir(), "golci-parts-"+randomName())
	h.guard.AddDir(dir) // before it is there, so that it cannot stay
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	h.trace, c.Env = dir, append(c.Env, launch.PartsEnv(dir, c.Env))
	return nil
}

// sendPart sends what a rank that has ended has recorded. If there is nothing, the head finds that out by itself.
func (h *helper) sendPart(rank int) {
	if h.trace == "" {
		return
	}
	path := launch.PartPath(h.trace, rank)
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	defer os.Remove(path)
	if _, err := io.Copy(h.outwardOf(rank, streamPart), f); err != nil {
		h.Detail("the timeline of rank %d: %v", rank, err)
	}
}

// directory is the head's working directory, if this machine has it, too.
func (h *helper) directory(dir string) string {
	if st, err := os.Stat(dir); dir != "" && err == nil && st.IsDir() {
		return dir
	}
	h.Detail("there is no directory %s here", dir)
	return ""
}

// Attach passes on the PMI lines of a rank.
func (h *helper) Attach(rank int, conn net.Conn) {
	r := &rankPMI{conn: conn, drained: make(chan struct{})}
	h.mu.Lock()
	h.lines = append(h.lines, r)
	h.mu.Unlock()
	h.wg.Go(func() {
		defer close(r.drained)
		defer conn.Close()
		buf := make([]byte, 8<<10)
		for {
			n, err := conn.Read(buf)
			if n > 0 {
				h.link.sendFrame(framePMI, rank, buf[:n])
			}
			if err != nil {
				h.link.sendFrame(framePMIEnd, rank, nil)
				return
			}
		}
	})
}

// hearTime bounds how long a rank can hold the others up. It has one request outstanding, so it reads.
const hearTime = 2 * time.Second

func (r *rankPMI) hearPMI(b []byte) {
	_ = r.conn.SetWriteDeadline(time.Now().Add(hearTime))
	if _, err := r.conn.Write(b); err != nil {
		r.conn.Close()
	}
}

// Drained is closed when all that the rank has said has been passed on.
func (h *helper) Drained(rank int) <-chan struct{} { return h.findRank(rank).drained }

// Ended tells the head of the end of a rank.
func (h *helper) Ended(rank int, st launch.Status) {
	if r := h.findRank(rank); r != nil {
		r.conn.Close() // somebody outside the rank may hold the other end
		<-r.drained
	}
	h.sendPart(rank)
	e := exitNote{Code: st.Code, Core: st.Core, Own: st.Own}
	if st.Signal != 0 {
		e.Signal = unix.SignalName(st.Signal)
	}
	h.link.sendFrame(frameExit, rank, encodeJSON(e))
}

// kill sends sig to all ranks; 0 is a signal that is not known here.
func (h *helper) kill(sig syscall.Signal) {
	if h.localRanks != nil && sig != 0 {
		h.localRanks.Kill(sig)
	}
}

// outputStream is the way of one stream to the head: a writer that waits until the head has taken each piece.
type outputStream struct {
	h      *helper
	rank   int
	stream int
	taken  chan struct{}
}

// Output is the way of one stream to the head.
func (h *helper) Output(rank, stream int) (launch.Sink, error) {
	return launch.Sink{To: h.outwardOf(rank, stream)}, nil
}

func (h *helper) outwardOf(rank, stream int) *outputStream {
	return &outputStream{h, rank, stream, h.acks[streams*(rank-h.localRanks.First)+stream-1]}
}

// Write blocks the goroutine of the rank's pipe. If the head is gone the output is lost.
func (o *outputStream) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		piece := b[:min(len(b), chunk)]
		b = b[len(piece):]
		o.h.link.sendFrame(frameOut, o.rank, append([]byte{byte(o.stream)}, piece...))
		select {
		case <-o.taken:
		case <-o.h.link.gone:
			return n, nil
		}
	}
	return n, nil
}

func (h *helper) acknowledge(f frame) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.localRanks == nil || len(f.data) != 1 {
		return
	}
	i := streams*(f.num-h.localRanks.First) + int(f.data[0]) - 1
	if i >= 0 && i < len(h.acks) {
		signal(h.acks[i], struct{}{})
	}
}

// feed writes the standard input of rank 0. The pipe is closed at the end of the input, or of the job.
func (h *helper) feed() {
	defer h.input.Close()
	for {
		var b []byte
		select {
		case b = <-h.in:
		case <-h.link.gone:
			return
		}
		if len(b) == 0 {
			return
		}
		if _, err := h.input.Write(b); err != nil {
			h.link.sendFrame(frameInOK, 1, nil)
			return
		}
		h.link.sendFrame(frameInOK, 0, nil)
	}
}
