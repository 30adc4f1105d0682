package mpi

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
)

// TestPartitionedGaps: partitions come to the places of a datatype with gaps, and change nothing else. A message that is
// refused, as its elements are of another type, changes nothing at all.
func TestPartitionedGaps(t *testing.T) {
	const n, step = 6, 3
	for _, refused := range []bool{false, true} {
		must(t, 2, func(c *Comm) error {
			if c.Rank() == 0 {
				return partsFrom(c, n, refused)
			}
			buf := slices.Repeat([]int64{-7}, n*step)
			want := slices.Clone(buf)
			b := core.Buf{Mem: unsafe.Pointer(&buf[0]), N: 1, T: every(t, n, step)}
			q, err := c.core().PrecvInitBuf("PrecvInit", b, 2, 0, 1)
			if err != nil {
				return err
			}
			r := Request(q)
			if err := r.Start(); err != nil {
				return err
			}
			_, err = r.Wait()
			switch {
			case refused && !errors.Is(err, ErrType):
				return fmt.Errorf("got %w, want %w", err, ErrType)
			case !refused && err != nil:
				return err
			}
			for i := 0; !refused && i < n; i++ {
				want[i*step] = int64(i)
			}
			if !slices.Equal(buf, want) {
				return fmt.Errorf("refused %v: got %v, want %v", refused, buf, want)
			}
			return r.Free()
		})
	}
}

// partsFrom sends n numbers in three partitions, as another type if they are to be refused.
func partsFrom(c *Comm, n int, refused bool) error {
	var r Request
	var err error
	if refused {
		r, err = PsendInit(c, make([]float64, n), 3, 1, 1)
	} else {
		r, err = PsendInit(c, sendBuf(0, 1, n), 3, 1, 1)
	}
	if err := errors.Join(err, r.Start()); err != nil {
		return err
	}
	for i := range 3 {
		if err := r.Pready(i); err != nil {
			return err
		}
	}
	_, err = r.Wait()
	return errors.Join(err, r.Free())
}
