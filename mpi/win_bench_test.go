package mpi

import (
	"errors"
	"testing"
)

// BenchmarkFlush has rank 0 access the window of rank 1, in the same process, and complete each access by a flush.
func BenchmarkFlush(b *testing.B) {
	for _, k := range []struct {
		name string
		one  func(w *Win[int64], buf []int64) error
	}{
		{"put", func(w *Win[int64], buf []int64) error { return w.Put(buf, 1, 0) }},
		{"get", func(w *Win[int64], buf []int64) error { return w.Get(buf, 1, 0) }},
		{"accumulate", func(w *Win[int64], buf []int64) error { return w.Accumulate(buf, 1, 0, Sum) }},
		{"fetch_and_op", func(w *Win[int64], buf []int64) error { return w.FetchAndOp(1, &buf[0], 1, 0, Sum) }},
		{"compare_and_swap", func(w *Win[int64], buf []int64) error { return w.CompareAndSwap(1, 0, &buf[0], 1, 0) }},
	} {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			err := Run(2, func(c *Comm) error {
				w, err := AllocateWin[int64](c, 1)
				if err != nil {
					return err
				}
				if c.Rank() == 0 {
					err = w.Locked(LockShared, 1, func() error {
						buf := make([]int64, 1)
						b.ResetTimer()
						for b.Loop() {
							if err := errors.Join(k.one(w, buf), w.Flush(1)); err != nil {
								return err
							}
						}
						return nil
					})
				}
				return errors.Join(err, c.Barrier(), w.Free())
			})
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}
