//go:build unix

package launch

import (
	"fmt"
	"net"
	"os"

	"github.com/golci/golci/internal/job/boot"
)

// Spec describes the job; nobody changes it.
func (j *Job) Spec() *Spec { return j.spec }

// ID is the name that the job's ranks have in common.
func (j *Job) ID() string { return boot.IDFromKey(j.key) }

// Over is closed when the job has come to its end, so that nobody hears reports any more.
func (j *Job) Over() <-chan struct{} { return j.over }

// Detail prints a step, for -v.
func (j *Job) Detail(format string, args ...any) {
	if j.spec.Detail != nil {
		j.spec.Detail(fmt.Sprintf(format, args...))
	}
}

// Attach serves PMI to a rank over c, which the job owns from now on.
func (j *Job) Attach(rank int, c net.Conn) {
	w := j.worldOf(rank)
	w.srv.Attach(rank-w.first, c)
}

// Drained is closed when everything the rank has said over PMI has been taken.
func (j *Job) Drained(rank int) <-chan struct{} { return j.drained[rank] }

// Part is the destination of a rank's part of the timeline, which comes from another machine. The file is made by the
// first write.
func (j *Job) Part(rank int) Sink {
	p := &partFile{path: PartPath(j.spec.Parts, rank), tell: j.spec.Say}
	return Sink{To: p, done: p.closePart}
}

// partFile is written by one goroutine.
type partFile struct {
	path string
	tell func(text string)
	file *os.File
	err  error // the first one; it has been told
}

// Write never fails: whoever sends goes on.
func (p *partFile) Write(b []byte) (int, error) {
	if p.file == nil && p.err == nil {
		p.file, p.err = os.Create(p.path)
		p.complain()
	}
	if p.err == nil {
		_, p.err = p.file.Write(b)
		p.complain()
	}
	return len(b), nil
}

func (p *partFile) complain() {
	if p.err != nil {
		p.tell(fmt.Sprintf("a part of the timeline is lost: %v", p.err))
	}
}

func (p *partFile) closePart() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// Ended reports that the process of a rank has ended, once its output has been taken. The first report for a rank
// counts. It does not wait unless a rank is reported twice.
func (j *Job) Ended(rank int, st Status) {
	select {
	case j.exits <- ended{rank, st}:
	case <-j.over:
	}
}

// Lost reports that a machine has gone with its ranks, for the reason in text, which has an exit code from 1 on. It
// waits until the goroutine of Run has heard of it.
func (j *Job) Lost(text string, code int, ranks []int) {
	select {
	case j.losses <- loss{text, code, ranks}:
	case <-j.over:
	}
}
