package gasnettest

import (
	"bytes"
	"fmt"
	"testing"
)

// TestSlice is testslice: random puts and gets of random slices, against a shadow of what must be there.
func TestSlice(t *testing.T) {
	overMemory(t, 3, func(r *rank) error {
		shadow := fill(make([]byte, part), uint64(r.id))
		if err := r.m.Put(r.next(), r.home(), shadow); err != nil {
			return err
		}
		for k := range 300 / raceSlower {
			off, n := r.slice()
			at := r.home() + int64(off)
			if r.rng.IntN(2) == 0 {
				fill(shadow[off:off+n], r.rng.Uint64())
				if err := putSomehow(r, at, shadow[off:off+n]); err != nil {
					return err
				}
				continue
			}
			got := make([]byte, n)
			if err := getSomehow(r, at, got); err != nil {
				return err
			}
			if !bytes.Equal(got, shadow[off:off+n]) {
				return fmt.Errorf("step %d: bytes %d to %d are not what was put", k, off, off+n)
			}
		}
		if err := r.barrier(); err != nil {
			return err
		}
		got := make([]byte, part)
		if err := r.m.Get(r.next(), r.home(), got); err != nil {
			return err
		}
		if !bytes.Equal(got, shadow) {
			return fmt.Errorf("the segment differs from its shadow")
		}
		return nil
	})
}

// slice is a random part of the part: mostly short.
func (r *rank) slice() (off, n int) {
	n = r.rng.IntN(64)
	switch r.rng.IntN(4) {
	case 0:
		n = r.rng.IntN(part / 2)
	case 1:
		n = r.rng.IntN(4096)
	}
	return r.rng.IntN(part - n + 1), n
}

func putSomehow(r *rank, at int64, data []byte) error {
	switch r.rng.IntN(3) {
	case 0:
		return r.m.Put(r.next(), at, data)
	case 1:
		h, err := r.m.PutNB(r.next(), at, data)
		if err != nil {
			return err
		}
		return h.Wait()
	}
	c := r.m.NewContext()
	if err := c.PutBulk(r.next(), at, data); err != nil {
		return err
	}
	return c.WaitAll()
}

func getSomehow(r *rank, at int64, dst []byte) error {
	switch r.rng.IntN(3) {
	case 0:
		return r.m.Get(r.next(), at, dst)
	case 1:
		h, err := r.m.GetNB(r.next(), at, dst)
		if err != nil {
			return err
		}
		return h.Wait()
	}
	c := r.m.NewContext()
	if err := c.Get(r.next(), at, dst); err != nil {
		return err
	}
	return c.WaitGets()
}
