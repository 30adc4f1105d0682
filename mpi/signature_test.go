package mpi

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type metres float64

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
