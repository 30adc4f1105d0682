package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type (
	metres  float64
	vector  struct{ X, Y float64 }
	mixedAB struct {
		A int32
		B float64
	}
	mixedBA struct {
		B float64
		A int32
	}
)

// TestShapes: what has one type signature has one shape, and nothing else has.
func TestShapes(t *testing.T) {
	same := [][]*elem{
		{elemOf[float64](), elemOf[metres](), elemOf[[2]float64](), elemOf[vector](), elemOf[[3]vector](), elemOf[struct{ V [5]vector }]()},
		{elemOf[int](), elemOf[int64]()},
		{elemOf[uint](), elemOf[uint64](), elemOf[uintptr]()},
		{elemOf[byte](), elemOf[[16]byte]()},
		{elemOf[mixedAB](), elemOf[[4]mixedAB]()},
		{elemOf[mixedBA]()},
		{elemOf[float32]()},
		{elemOf[int32]()},
		{elemOf[uint32]()},
		{elemOf[int8]()},
		{elemOf[bool]()},
		{elemOf[complex128]()},
		{elemOf[struct {
			A int32
			B float32
		}]()},
	}
	seen := make(map[uint64]string)
	for i, list := range same {
		first := list[0].shape()
		for _, e := range list {
			if e.shape() != first {
				t.Errorf("set %d: shapes %#x and %#x", i, first, e.shape())
			}
		}
		name := fmt.Sprint("set ", i)
		if other := seen[first]; other != "" {
			t.Errorf("%s has the shape of %s", name, other)
		}
		seen[first] = name
	}
	if a, b := elemOf[struct{ A, B int32 }]().shape(), elemOf[int32]().shape(); a != b {
		t.Errorf("two int32 are %#x, one is %#x", a, b)
	}
}

// TestTypeMismatch: a receive that takes a message for other elements is told so, in all ways to receive, and the
// next one is not troubled.
func TestTypeMismatch(t *testing.T) {
	for _, n := range []int{1, 100_000} {
		for _, name := range []string{"local", "udp"} {
			must(t, 2, func(c *Comm) error {
				ways := map[string]func(tag int) error{
					"Recv":      func(tag int) error { return second(Recv(c, make([]int64, n), 0, tag)) },
					"AnySource": func(tag int) error { return second(Recv(c, make([]int64, n), AnySource, tag)) },
					"AnyTag":    func(int) error { return second(Recv(c, make([]int64, n), 0, AnyTag)) },
					"RecvAlloc": func(tag int) error { _, _, err := RecvAlloc[int64](c, 0, tag); return err },
					"RecvValue": func(tag int) error { _, _, err := RecvValue[string](c, 0, tag); return err },
					"Irecv": func(tag int) error {
						r, err := Irecv(c, make([]int64, n), 0, tag)
						if err == nil {
							_, err = r.Wait()
						}
						return err
					},
					"Mrecv": func(tag int) error {
						m, err := c.Mprobe(0, tag)
						if err == nil {
							_, err = Mrecv(m, make([]int64, n))
						}
						return err
					},
				}
				tag := 0
				for _, way := range []string{"Recv", "AnySource", "AnyTag", "RecvAlloc", "RecvValue", "Irecv", "Mrecv"} {
					tag++
					if c.Rank() == 0 {
						if tag%2 == 0 {
							if _, err := Recv(c, []byte{0}, 1, 90); err != nil { // the receive may be posted
								return err
							}
						}
						if err := errors.Join(Send(c, make([]float64, n), 1, tag), Send(c, []metres{7}, 1, tag)); err != nil {
							return err
						}
						continue
					}
					if tag%2 == 0 {
						if err := Send(c, []byte{0}, 0, 90); err != nil {
							return err
						}
					}
					err := ways[way](tag)
					if !errors.Is(err, ErrType) || !strings.Contains(err.Error(), "float64") || !strings.Contains(err.Error(), "rank 0") {
						return fmt.Errorf("%s of %d: %v", way, n, err)
					}
					in := []float64{0}
					if _, err := Recv(c, in, 0, tag); err != nil || in[0] != 7 {
						return fmt.Errorf("after %s: %v %v", way, in, err)
					}
				}
				return nil
			}, With("GOLCI_CONDUIT", name))
		}
	}
}

// TestTypesUnchecked: without the setting, on either side, bytes are bytes.
func TestTypesUnchecked(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		if c.Rank() == 0 {
			return Send(c, []int64{1 << 40, 3}, 1, 0)
		}
		in := []int32{0, 0, 0, 0}
		if _, err := Recv(c, in, 0, 0); err != nil || in[1] != 1<<8 {
			return fmt.Errorf("%v %v", in, err)
		}
		return nil
	}, With("GOLCI_CHECK", "off"))
}

// TestBufferChanged: where types are checked, the end of a send tells that its buffer was changed meanwhile.
func TestBufferChanged(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		for _, change := range []bool{false, true} {
			if c.Rank() == 1 {
				if _, err := Recv(c, []byte{0}, 0, 1); err != nil {
					return err
				}
				if _, err := Recv(c, make([]int, 100_000), 0, 0); err != nil {
					return err
				}
				continue
			}
			b := make([]int, 100_000)
			r, err := Isend(c, b, 1, 0)
			if err != nil {
				return err
			}
			if change {
				b[99_999] = 1
			}
			if err := Send(c, []byte{0}, 1, 1); err != nil {
				return err
			}
			if _, err := r.Wait(); change != errors.Is(err, ErrBuffer) || !change && err != nil {
				return fmt.Errorf("changed %v: %v", change, err)
			}
		}
		return nil
	})
}
