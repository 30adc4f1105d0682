package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// TestPartThatFails: where a message of a partitioned receive fails, and the others are well, the wait gives its error.
func TestPartThatFails(t *testing.T) {
	for failing := range 3 {
		run(t, 1, func(c *Comm) error {
			whole := errors.New("whole")
			p := &partitionedRecv{partitionedOp: partitionedOp{c: c, msgs: make([]partMessage, 3)}}
			p.msgs[failing].err = whole
			for _, last := range []bool{false, true} {
				if err := p.collectMessages(last); !errors.Is(err, whole) {
					return fmt.Errorf("message %d of 3 failed; the error is %v, used up: %v", failing, err, last)
				}
			}
			if err := p.collectMessages(true); err != nil {
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
			if _, err := r.WaitContext(context.Background()); !errors.Is(err, sentinel.ErrType) {
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

// heard keeps from which rank the last notice of a window has come.
type heard chan int

// Noticed implements Windows.
func (h heard) Noticed(_ uint64, from int, _, _ uint64, _ *fult.Worker) { h <- from }

// TestSenderOfAWindowNotice: a notice of a window comes from the rank that has sent it, whatever it says.
func TestSenderOfAWindowNotice(t *testing.T) {
	run(t, 3, func(c *Comm) error {
		h := make(heard, 1)
		above := Windows(h)
		c.proc.layers.windows.Store(&above)
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 1 {
			c.Srv.Notify(0, [4]uint64{c.coll.UID, 0, 2<<32 | notice.Window}, "")
		}
		for c.Rank() == 0 && len(h) == 0 {
			c.Srv.Poll()
		}
		if c.Rank() == 0 {
			if from := <-h; from != 1 {
				return fmt.Errorf("it is from rank %d, want 1", from)
			}
		}
		c.proc.layers.windows.Store(nil)
		return c.Barrier()
	})
}

// TestMemberHasLeft: a member of a meeting that closes its conduit may have left it. That ends no wait but that for its
// own message.
func TestMemberHasLeft(t *testing.T) {
	seen := errors.New("seen") // ends the job, in which a rank is missing
	err := job(3, func(c *Comm) error {
		e := c.Srv.Endpoint()
		if c.Rank() == 2 {
			return e.Conduit().Close()
		}
		for !e.Gone(2) {
			e.Poll()
		}
		y := c.meeting("test")
		if y.ends(2, 1) || !y.ends(2, 2) {
			t.Errorf("a wait for rank 1 ends: %v, one for rank 2: %v", y.ends(2, 1), y.ends(2, 2))
		}
		return seen
	})
	if !errors.Is(err, seen) {
		t.Error(err)
	}
}
