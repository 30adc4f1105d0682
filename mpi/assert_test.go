package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/mpi/internal/contextid"
)

var allAsserts = Assert{NoAnySource: true, NoAnyTag: true, AllowOvertaking: true, ExactLength: true}

// TestDupWith: messages of every size over communicators with promises, and ids that are used again.
func TestDupWith(t *testing.T) {
	for _, with := range [][2]string{{"types", "local"}, {"off", "local"}, {"types", "udp"}, {"off", "udp"}} {
		if err := Run(3, func(c *Comm) error {
			for _, a := range []Assert{{}, {NoAnySource: true}, {ExactLength: true}, allAsserts} {
				d, err := c.DupWith(a)
				if err != nil {
					return err
				}
				if (d.core().ID() >= contextid.FirstAsserted) != (a != Assert{}) {
					return fmt.Errorf("%+v: id %d", a, d.core().ID())
				}
				if err := aroundRing(d); err != nil {
					return fmt.Errorf("%+v: %w", a, err)
				}
				if err := d.Barrier(); err != nil {
					return err
				}
				if err := d.Free(); err != nil {
					return err
				}
			}
			return nil
		}, With(settings.Check.Env(), with[0]), With(settings.Conduit.Env(), with[1])); err != nil {
			t.Errorf("check %s over %s: %v", with[0], with[1], err)
		}
	}
}

// aroundRing passes messages of many sizes to the next rank.
func aroundRing(c *Comm) error {
	n := c.Size()
	to, from := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	for i, size := range []int{0, 1, 100, 3000, 10_000, 10_000, 500_000} {
		out, in := make([]int32, size), make([]int32, size)
		for k := range out {
			out[k] = int32(k * (c.Rank() + 1))
		}
		r, err := Irecv(c, in, from, i%3)
		if err != nil {
			return err
		}
		if err := Send(c, out, to, i%3); err != nil {
			return err
		}
		if st, err := r.Wait(); err != nil || st.bytes != int64(4*size) {
			return fmt.Errorf("size %d: %+v, %w", size, st, err)
		}
		for k := range in {
			if in[k] != int32(k*(from+1)) {
				return fmt.Errorf("size %d: element %d is %d", size, k, in[k])
			}
		}
	}
	return nil
}

// TestAssertBroken: every call that breaks a promise says so, and the error names function and ranks.
func TestAssertBroken(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d, err := c.DupWith(allAsserts)
		if err != nil {
			return err
		}
		b := make([]byte, 4)
		calls := map[string]func() error{
			"Recv":       func() error { _, err := Recv(d, b, AnySource, 1); return err },
			"Irecv":      func() error { _, err := Irecv(d, b, 0, AnyTag); return err },
			"Probe":      func() error { _, err := d.Probe(AnySource, 1); return err },
			"Iprobe":     func() error { _, _, err := d.Iprobe(0, AnyTag); return err },
			"Mprobe":     func() error { _, err := d.Mprobe(AnySource, AnyTag); return err },
			"RecvAlloc":  func() error { _, _, err := RecvAlloc[byte](d, 0, 1); return err },
			"RecvValue":  func() error { _, _, err := RecvValue[int](d, 0, 1); return err },
			"too short":  func() error { return exchange(d, 3, 4) },
			"too long":   func() error { return exchange(d, 5, 4) },
			"large":      func() error { return exchange(d, 100_000, 100_001) },
			"large long": func() error { return exchange(d, 100_001, 100_000) },
		}
		for name, f := range calls {
			if err := f(); !errors.Is(err, ErrAssert) {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		if err := c.Barrier(); err != nil {
			return err
		}
		return d.Free()
	})
}

// exchange sends to the own rank, and gives the error of the receive.
func exchange(c *Comm, sent, want int) error {
	r, err := Irecv(c, make([]byte, want), c.Rank(), 2)
	if err != nil {
		return err
	}
	if err := Send(c, make([]byte, sent), c.Rank(), 2); err != nil {
		return err
	}
	_, err = r.Wait()
	return err
}

// TestAssertOfAll: a promise that one rank does not make does not hold.
func TestAssertOfAll(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		a := allAsserts
		a.NoAnyTag = c.Rank() == 1
		d, err := c.DupWith(a)
		if err != nil {
			return err
		}
		r, err := Irecv(d, make([]byte, 4), d.Rank(), AnyTag)
		if err != nil {
			return err
		}
		if err := Send(d, make([]byte, 4), d.Rank(), 7); err != nil {
			return err
		}
		if _, err := r.Wait(); err != nil {
			return err
		}
		return d.Free()
	})
}
