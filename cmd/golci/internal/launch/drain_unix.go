//go:build unix

package launch

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// idleDrain is how long an output pipe must stay empty after its rank's end, twice in a row, before it is closed. By
// then all output of the rank lies in it. So only somebody outside the rank's group can hold it open.
const idleDrain = 150 * time.Millisecond

// drain copies the output of a rank from a pipe. Nothing is lost at the rank's end, however slowly it is read.
type drain struct {
	r     *os.File
	to    io.Writer
	ended atomic.Bool   // the rank has; set before the deadline that wakes the copying goroutine
	done  chan struct{} // closed when everything has been copied
}

// newDrain makes a pipe and starts to copy from it; its other end is for the rank, and the caller closes it.
func newDrain(to io.Writer) (d *drain, theirs *os.File, err error) {
	r, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	d = &drain{r: r, to: to, done: make(chan struct{})}
	go d.copyOutput()
	return d, theirs, nil
}

func (d *drain) copyOutput() {
	defer close(d.done)
	defer d.r.Close()
	buf := make([]byte, 32<<10)
	for empty := 0; empty < 2; {
		if d.ended.Load() {
			_ = d.r.SetReadDeadline(time.Now().Add(idleDrain)) // a pipe has deadlines
		}
		n, err := d.r.Read(buf)
		if n > 0 {
			empty = 0
			_, _ = d.to.Write(buf[:n]) // if nobody takes it the rank is not to notice
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			empty++
		default:
			return
		}
	}
}

// finishCopy waits until everything has been copied, once the rank has ended.
func (d *drain) finishCopy() {
	d.ended.Store(true)
	_ = d.r.SetReadDeadline(time.Now().Add(idleDrain)) // or it is closed already
	<-d.done
}
