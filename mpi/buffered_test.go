package mpi

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"
)

// TestBsend: messages wait in the attached buffer, which has room for so many bytes (3.4, 3.6).
func TestBsend(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		const n = 100_000
		p, mem := c.Proc(), make([]byte, 2*n)
		a, b := pattern(n, 0, 0, 1), pattern(n, 0, 0, 2)
		if err := Bsend(c, a, 0, 1); !errors.Is(err, ErrBuffer) {
			return fmt.Errorf("without a buffer: %w", err)
		}
		if err := p.AttachBuffer(mem); err != nil {
			return err
		}
		if err := p.AttachBuffer(mem); !errors.Is(err, ErrBuffer) {
			return fmt.Errorf("attached twice: %w", err)
		}
		sent := append([]byte(nil), a...)
		if err := errors.Join(Bsend(c, sent, 0, 1), Bsend(c, b, 0, 2), Bsend(c, b, ProcNull, 2)); err != nil {
			return err
		}
		clear(sent)
		if err := Bsend(c, b[:1], 0, 3); !errors.Is(err, ErrBuffer) {
			return fmt.Errorf("no room: %w", err)
		}
		flush := p.FlushBuffer()
		in := make([]byte, n)
		if _, err := Recv(c, in, 0, 1); err != nil {
			return err
		}
		if err := checkPattern(in, 0, 0, 1); err != nil {
			return err
		}
		if _, ok, err := flush.Test(); ok || err != nil {
			return fmt.Errorf("flushed too early: %w", err)
		}
		if err := Bsend(c, a, 0, 4); err != nil { // in the gap before the second one
			return err
		}
		if _, err := Recv(c, in, 0, 2); err != nil {
			return err
		}
		if err := checkPattern(in, 0, 0, 2); err != nil {
			return err
		}
		if _, err := flush.Wait(); err != nil {
			return err
		}
		if _, err := Recv(c, in, 0, 4); err != nil {
			return err
		}
		if err := checkPattern(in, 0, 0, 1); err != nil {
			return err
		}
		got, err := p.DetachBuffer()
		if err != nil || unsafe.SliceData(got) != unsafe.SliceData(mem) {
			return fmt.Errorf("another memory: %w", err)
		}
		got, err = p.DetachBuffer()
		if err != nil || got != nil {
			return fmt.Errorf("detached twice: %w", err)
		}

		dup, err := c.Dup()
		if err != nil {
			return err
		}
		if err := errors.Join(dup.AttachBuffer(nil), Bsend(dup, a, 0, 1)); err != nil {
			return err
		}
		if err := Bsend(c, a, 0, 1); !errors.Is(err, ErrBuffer) {
			return fmt.Errorf("the buffer of another communicator: %w", err)
		}
		r, err := BsendInit(dup, b, 0, 1)
		if err := errors.Join(err, r.Start()); err != nil {
			return err
		}
		if _, ok, err := r.Test(); !ok || err != nil || r.Null() {
			return fmt.Errorf("a buffered send is done at once: %w", err)
		}
		for i := 1; i <= 2; i++ {
			if _, err := Recv(dup, in, 0, 1); err != nil {
				return err
			}
			if err := checkPattern(in, 0, 0, i); err != nil {
				return err
			}
		}
		_, err = dup.DetachBuffer()
		return errors.Join(err, dup.Free())
	})
}
