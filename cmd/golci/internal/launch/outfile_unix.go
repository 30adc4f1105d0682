//go:build unix

package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// streamEndings are those of the files of a rank's streams 1 and 2.
var streamEndings = [...]string{1: ".out", 2: ".err"}

// Output is the destination of a rank's stream 1 or 2: a file of its own, the launcher's stream, or both.
func (j *Job) Output(rank, stream int) (Sink, error) {
	if j.spec.Files == "" {
		return j.terminalSink(rank, stream), nil
	}
	path := filepath.Join(j.spec.Files, fmt.Sprint(rank, streamEndings[stream]))
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|os.O_APPEND, 0o666)
	if err != nil {
		return Sink{}, fmt.Errorf("its output: %w", err)
	}
	to := &outFile{f: f, name: j.rankName(rank), tell: j.spec.Say}
	if !j.spec.Tee {
		return Sink{To: to, file: f, own: true, done: f.Close}, nil
	}
	screen := j.terminalSink(rank, stream)
	return Sink{To: io.MultiWriter(to, screen.To), done: func() error {
		screen.Done()
		return f.Close()
	}}, nil
}

// terminalSink is the launcher's own stream. The rank writes to it itself, unless the lines are to be marked, or the
// stream is not a file.
func (j *Job) terminalSink(rank, stream int) Sink {
	to := j.out
	if stream == 2 {
		to = j.err
	}
	if j.spec.Prefix {
		p := &prefixer{out: to, prefix: fmt.Sprintf("[%d] ", rank)}
		return Sink{To: p, done: p.flushLine}
	}
	file, _ := to.w.(*os.File)
	return Sink{To: to, file: file}
}

// outFile is a rank's file that the launcher writes. One goroutine uses it.
type outFile struct {
	f    *os.File
	name string // of the rank
	tell func(text string)
	err  error // the first one; it has been told
}

// Write never fails: the rank is not to notice, and its output goes on to the terminal.
func (o *outFile) Write(b []byte) (int, error) {
	if o.err != nil {
		return len(b), nil
	}
	if _, o.err = o.f.Write(b); o.err != nil && !errors.Is(o.err, os.ErrClosed) {
		text := fmt.Sprintf("the rest of the output of %s is not in its file: %v", o.name, o.err)
		if errors.Is(o.err, syscall.EFBIG) {
			text += " (ulimit -f)"
		}
		o.tell(text)
	}
	return len(b), nil
}
