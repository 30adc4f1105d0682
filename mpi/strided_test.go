package mpi

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// TestStrided sends parts of slices, short and long, and looks at every element of the receiver's slice.
func TestStrided(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		for tag, rows := range []int{0, 1, 3, 40_000} {
			from, to := Strided{rows, 2, 5}, Strided{2 * rows, 1, 3}
			if c.Rank() == 0 {
				m := make([]int32, 5*rows+1)
				for i := range m {
					m[i] = int32(i)
				}
				r, err := IsendStrided(c, m[1:], from, 1, tag)
				if err := errors.Join(err, SendStrided(c, m, from, 1, 100+tag)); err != nil {
					return err
				}
				if _, err := r.Wait(); err != nil {
					return err
				}
				continue
			}
			for shift, base := range []int{100, 0} {
				got := slices.Repeat([]int32{-1}, 6*rows)
				r, err := IrecvStrided(c, got, to, 0, base+tag)
				if err != nil {
					return err
				}
				if st, err := r.Wait(); err != nil || st.Bytes() != int64(8*rows) {
					return fmt.Errorf("%d rows: %v, %w", rows, st, err)
				}
				for i, v := range got {
					want := int32(-1)
					if i%3 == 0 {
						want = int32(i/6*5 + i/3%2 + shift)
					}
					if v != want {
						return fmt.Errorf("%d rows: element %d is %d, want %d", rows, i, v, want)
					}
				}
			}
		}
		return nil
	})
}

// TestStridedWrong: parts that are not within the slice, elements that cannot travel or are others, and truncation.
func TestStridedWrong(t *testing.T) {
	must(t, 1, func(c *Comm) error {
		for _, s := range []Strided{
			{2, 1, 4}, {-1, 1, 1}, {1, -1, 1}, {2, 2, 1}, {1, 5, 5}, {math.MaxInt, 1, math.MaxInt}, {3, 2, 2},
		} {
			if err := SendStrided(c, make([]int, 4), s, 0, 0); !errors.Is(err, ErrCount) {
				return fmt.Errorf("%+v: %w", s, err)
			}
		}
		if err := SendStrided(c, make([]string, 4), Strided{2, 1, 2}, 0, 0); !errors.Is(err, ErrType) {
			return fmt.Errorf("strings: %w", err)
		}
		for tag, in := range [][]float64{make([]float64, 4), make([]float64, 1)} {
			r, err := IrecvStrided(c, in, Strided{len(in), 1, 1}, 0, tag)
			if err != nil {
				return err
			}
			if tag == 0 {
				err = SendStrided(c, []int{1, 2, 3}, Strided{2, 1, 2}, 0, tag)
			} else {
				err = SendStrided(c, []float64{1, 2, 3}, Strided{2, 1, 2}, 0, tag)
			}
			if err != nil {
				return err
			}
			want := []error{ErrType, ErrTruncate}[tag]
			if _, err := r.Wait(); !errors.Is(err, want) {
				return fmt.Errorf("%d: %w", tag, err)
			}
		}
		return SendStrided(c, make([]int, 4), Strided{2, 1, 3}, ProcNull, 0)
	})
}
