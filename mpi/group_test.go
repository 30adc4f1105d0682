package mpi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi/internal/contextid"
)

func TestSplit(t *testing.T) {
	for n := 1; n <= 8; n++ {
		must(t, n, func(c *Comm) error {
			d, err := c.Split(c.Rank()%2, c.Rank())
			if err != nil {
				return err
			}
			if d.Rank() != c.Rank()/2 || d.Size() != (n+1-c.Rank()%2)/2 {
				return fmt.Errorf("rank %d of %d became %d of %d", c.Rank(), n, d.Rank(), d.Size())
			}
			if w, err := d.WorldRank(d.Rank()); w != c.Rank() || err != nil {
				return fmt.Errorf("world rank %d, %v", w, err)
			}
			want := 0
			for r := c.Rank() % 2; r < n; r += 2 {
				want += r
			}
			if err := reduces(d, c.Rank(), want, Sum); err != nil {
				return err
			}
			// Equal tags in different communicators do not meet.
			if err := Send(c, []int{1}, c.Rank(), 0); err != nil {
				return err
			}
			if err := Send(d, []int{2}, d.Rank(), 0); err != nil {
				return err
			}
			a, b := one(), one()
			_, err = Recv(d, a, AnySource, AnyTag)
			_, err2 := Recv(c, b, AnySource, AnyTag)
			if err := errors.Join(err, err2); err != nil || a[0] != 2 || b[0] != 1 {
				return fmt.Errorf("%v %v %v", a, b, err)
			}
			return d.Free()
		})
	}
}

func TestSplitUndefined(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		color := Undefined
		if c.Rank() == 1 {
			color = 9
		}
		d, err := c.Split(color, 0)
		if err != nil {
			return err
		}
		if c.Rank() != 1 {
			if d != nil {
				return errors.New("a rank without colour got a communicator")
			}
			if d.Rank() != Undefined || d.Size() != 0 || d.Proc() != nil {
				return errors.New("a nil communicator has a rank")
			}
			return nil
		}
		return errors.Join(d.Barrier(), d.Free())
	})
}

func TestSplitBadColor(t *testing.T) {
	must(t, 3, func(c *Comm) error {
		color := 0
		if c.Rank() == 2 {
			color = -5
		}
		d, err := c.Split(color, 0)
		if c.Rank() == 2 {
			return wants(ErrArgument, err)
		}
		if err != nil || d.Size() != 2 {
			return fmt.Errorf("size %d, %v", d.Size(), err)
		}
		return d.Free()
	})
}

// TestContextsAreReused makes and frees more communicators than there are contexts.
func TestContextsAreReused(t *testing.T) {
	count := 3*contextid.Max + 100
	switch {
	case invariants.Race:
		count = 100
	case testing.Short():
		count = 500
	}
	must(t, 2, func(c *Comm) error {
		for i := range count {
			d, err := c.Dup()
			if err != nil {
				return fmt.Errorf("communicator %d: %w", i, err)
			}
			if d.core().ID() > 20 { // some are not free before the other rank's notice has come
				return fmt.Errorf("communicator %d has id %d", i, d.core().ID())
			}
			if err := d.Free(); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestContextsRunOut takes all of them, gets an error, and goes on when one is freed.
func TestContextsRunOut(t *testing.T) {
	skipUnderRace(t, "one rank, which makes thousands of communicators in turn")
	must(t, 1, func(c *Comm) error {
		var last *Comm
		for i := range contextid.FirstAsserted - 3 {
			d, err := c.Proc().Self().Dup()
			if err != nil {
				return fmt.Errorf("communicator %d: %w", i, err)
			}
			last = d
		}
		if _, err := c.Dup(); !errors.Is(err, ErrContexts) {
			return fmt.Errorf("one too many: %v", err)
		}
		if err := last.Free(); err != nil {
			return err
		}
		d, err := c.Dup()
		if err != nil {
			return err
		}
		return reduces(d, 4, 4, Sum)
	})
}

// TestDupInAnyOrder: threads of a rank make communicators of several parents at the same time, in an order that
// differs from rank to rank.
func TestDupInAnyOrder(t *testing.T) {
	const n, parents, rounds = 3, 3, 20
	must(t, n, func(c *Comm) error {
		var ps [parents]*Comm
		for i := range ps {
			var err error
			if ps[i], err = c.Dup(); err != nil {
				return err
			}
		}
		return everyWay(c, func(way int) error {
			p := ps[(way+c.Rank())%parents] // the kind of thread that serves a parent differs, too
			for i := range rounds {
				d, err := p.Dup()
				if err != nil {
					return err
				}
				if err := reduces(d, i, n*i, Sum); err != nil {
					return err
				}
				if i%2 == 0 {
					if err := d.Free(); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
}

// TestDupInTurn: one rank makes two communicators one after the other, the other one both at once.
func TestDupInTurn(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		x, err := c.Dup()
		if err != nil {
			return err
		}
		y, err := c.Dup()
		if err != nil {
			return err
		}
		for range 50 {
			if c.Rank() == 0 {
				err = everyWay(c, func(way int) error {
					if way == 2 {
						return nil
					}
					return second([]*Comm{x, y}[way].Dup())
				})
			} else {
				err = errors.Join(second(y.Dup()), second(x.Dup()))
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
