package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/golci/golci/internal/mpi/pure/dtype"
)

// TestPartThatFails: where a message of a partitioned receive fails, and the others are well, the wait gives its error.
func TestPartThatFails(t *testing.T) {
	for failing := range 3 {
		run(t, 1, func(c *Comm) error {
			whole := errors.New("whole")
			p := &partedRecv{parted: parted{c: c, msgs: make([]partMessage, 3)}}
			p.msgs[failing].err = whole
			for _, last := range []bool{false, true} {
				if err := p.collect(last); !errors.Is(err, whole) {
					return fmt.Errorf("message %d of 3 failed; the error is %v, used up: %v", failing, err, last)
				}
			}
			if err := p.collect(true); err != nil {
				return fmt.Errorf("the next start has the error %w", err)
			}
			return nil
		})
	}
}

// TestPartsOfAnotherType: partitions of elements that the receive does not take give ErrType to who waits for them.
func TestPartsOfAnotherType(t *testing.T) {
	run(t, 2, func(c *Comm) error {
		var mem [4]int64
		b := Buf{Mem: unsafe.Pointer(&mem), N: 2, T: dtype.Named(dtype.Int64)}
		if c.Rank() == 1 {
			b.T = dtype.Named(dtype.Double)
			r, err := c.PrecvInitBuf("PrecvInit", b, 2, 0, 1)
			if err == nil {
				err = r.Start("Start")
			}
			if err != nil {
				return err
			}
			if _, err := r.WaitContext(context.Background()); !errors.Is(err, ErrType) {
				return fmt.Errorf("the wait gave %v", err)
			}
			return r.Free()
		}
		r, err := c.PsendInitBuf("PsendInit", b, 2, 1, 1)
		if err == nil {
			err = r.Start("Start")
		}
		if err == nil {
			err = r.Pready("Pready", 0, 1)
		}
		if err == nil {
			_, err = r.WaitContext(context.Background())
		}
		if err != nil {
			return err
		}
		return r.Free()
	})
}

// conversation is a connection whose other end says what the test wants.
type conversation struct {
	io.Writer
	io.Reader
}

// TestMeetNobody: who tells of another job, or of a rank that this job does not have, is nobody to meet.
func TestMeetNobody(t *testing.T) {
	run(t, 1, func(c *Comm) error {
		p := c.proc
		job := p.rank.Job().JobID
		other := strings.Repeat("x", len(job))
		if other == job {
			return errors.New("the test has the name of the job")
		}
		size := uint64(p.rank.Size())
		for _, x := range []struct {
			job  string
			rank uint64
		}{{job, size}, {job, size + 1}, {job, 1 << 63}, {job, 1<<64 - 1}, {other, 0}} {
			said := append([]byte(x.job), bytesOfWords([]uint64{1 << 40, x.rank})...)
			d, err := p.Meet(conversation{io.Discard, strings.NewReader(string(said))})
			if d != nil || err != nil {
				return fmt.Errorf("rank %d of job %q: %v, %v", x.rank, x.job, d, err)
			}
		}
		return nil
	})
}
