package ranks

import (
	"errors"
	"fmt"
	"time"

	"github.com/golci/golci/mpi"
)

// accessor is an access of rank 0 to the window of rank 1. one is the i-th, whose bytes are buf; last checks what rank
// 1 has after n of them.
type accessor struct {
	one  func(w *mpi.Win[int64], buf []int64, i int) error
	last func(mem []int64, n int) error
}

// access has rank 0 lock the window of rank 1 and complete each access by a flush, as osu_put_latency and its like. The
// other ranks wait in a barrier.
func access(a accessor) loop {
	return func(e *env, size, n int, _ bool) (took time.Duration, err error) {
		w, err := mpi.AllocateWin[int64](e.comm, size/8)
		if err != nil {
			return 0, err
		}
		if e.rank == 0 {
			err = w.Locked(mpi.LockShared, 1, func() (err error) {
				took, err = timedAccess(w, a, make([]int64, size/8), n)
				return err
			})
		}
		err = errors.Join(err, e.comm.Barrier())
		if e.rank == 1 && err == nil && n > 0 {
			err = w.Locked(mpi.LockShared, 1, func() error { return a.last(w.Memory(), n) })
		}
		return took, errors.Join(err, w.Free())
	}
}

func timedAccess(w *mpi.Win[int64], a accessor, buf []int64, n int) (time.Duration, error) {
	start := time.Now()
	for i := range n {
		if err := a.one(w, buf, i); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// ends writes v to both ends.
func ends(buf []int64, v int) { buf[0], buf[len(buf)-1] = int64(v), int64(v) }

// endsAre wants v at both ends.
func endsAre(mem []int64, v int) error {
	if k := len(mem) - 1; mem[0] != int64(v) || mem[k] != int64(v) {
		return fmt.Errorf("%w: the window has %d and %d, want %d", ErrPayload, mem[0], mem[k], v)
	}
	return nil
}

var (
	putAccess = accessor{func(w *mpi.Win[int64], buf []int64, i int) error {
		ends(buf, i)
		if err := w.Put(buf, 1, 0); err != nil {
			return err
		}
		return w.Flush(1)
	}, func(mem []int64, n int) error { return endsAre(mem, n-1) }}

	getAccess = accessor{func(w *mpi.Win[int64], buf []int64, i int) error {
		ends(buf, -1)
		if err := w.Get(buf, 1, 0); err != nil {
			return err
		}
		if err := w.Flush(1); err != nil {
			return err
		}
		return endsAre(buf, 0)
	}, func([]int64, int) error { return nil }}

	sumAccess = accessor{func(w *mpi.Win[int64], buf []int64, _ int) error {
		ends(buf, 1)
		if err := w.Accumulate(buf, 1, 0, mpi.Sum); err != nil {
			return err
		}
		return w.Flush(1)
	}, func(mem []int64, n int) error { return endsAre(mem, n) }}

	fetchAccess = accessor{func(w *mpi.Win[int64], buf []int64, i int) error {
		if err := w.FetchAndOp(1, &buf[0], 1, 0, mpi.Sum); err != nil {
			return err
		}
		if err := w.Flush(1); err != nil {
			return err
		}
		if buf[0] != int64(i) {
			return fmt.Errorf("%w: fetched %d, want %d", ErrPayload, buf[0], i)
		}
		return nil
	}, func(mem []int64, n int) error { return endsAre(mem[:1], n) }}
)
