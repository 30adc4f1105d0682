package realm

import (
	"context"
	"fmt"
	"testing"
)

// BenchmarkTransfer copies within a rank and to another one of the process, one after the other.
func BenchmarkTransfer(b *testing.B) {
	for _, segment := range []int64{0, 64 << 20} {
		for dst := range 2 {
			for _, n := range []int64{8, 1 << 10, 128 << 10, 4 << 20} {
				if dst == 0 && segment > 0 {
					continue
				}
				b.Run(fmt.Sprintf("to=%d/registered=%v/bytes=%d", dst, segment > 0, n), func(b *testing.B) {
					if err := transfer(b, segment, dst, n); err != nil {
						b.Error(err)
					}
				})
			}
		}
	}
}

func transfer(b *testing.B, segment int64, dst int, n int64) error {
	ids := make(chan InstanceID, 1)
	return Run(2, func(rt *Runtime) error {
		kind := System
		if segment > 0 {
			kind = Registered
		}
		in, err := NewArray[uint64](rt, rt.Memory(kind), Range(0, n/8))
		if err != nil || rt.Rank() == dst && dst == 1 {
			ids <- in.ID()
			return err
		}
		if rt.Rank() == 1 {
			return nil
		}
		to, err := NewArray[uint64](rt, rt.Memory(System), Range(0, n/8))
		if err != nil {
			return err
		}
		if dst == 1 {
			to = (<-ids).On(rt)
		}
		b.SetBytes(n)
		for b.Loop() {
			if err := rt.Wait(context.Background(), Copy(rt, to, in, Part{})); err != nil {
				return err
			}
		}
		return nil
	}, Config{Segment: segment})
}
