package mpi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
)

// reversed is a communicator of all ranks of c but the last, in reversed order; nil at the last.
func reversed(c *Comm) (*Comm, error) {
	color := 0
	if c.Rank() == c.Size()-1 && c.Size() > 1 {
		color = Undefined
	}
	return c.Split(color, -c.Rank())
}

// TestBlockingBesideOpen: a collective that waits past the first look for mistakes leaves the open ones of its
// communicator alone, and carries them on: the rank that is behind needs them before it makes the blocking call.
func TestBlockingBesideOpen(t *testing.T) {
	const pause = 60 * time.Millisecond // a delay, not an assumption
	for _, startFirst := range []bool{true, false} {
		for k, start := range starters {
			if testing.Short() && startFirst != (k%2 == 0) {
				continue
			}
			must(t, 3, func(c *Comm) error {
				return everyWayInTurn(c, func(d *Comm) error {
					behind := d.Rank() == k%3
					if behind && !startFirst {
						time.Sleep(pause)
					}
					p, err := start(d, k, 9000)
					if err != nil {
						return err
					}
					if behind {
						time.Sleep(pause)
						if _, err := p.r.Wait(); err != nil {
							return fmt.Errorf("the open call: %w", err)
						}
					}
					if err := reduces(d, d.Rank(), 3, Sum); err != nil {
						return fmt.Errorf("the blocking call: %w", err)
					}
					if _, err := p.r.Wait(); err != nil {
						return fmt.Errorf("the open call: %w", err)
					}
					return p.check()
				})
			})
		}
	}
}

// lossy are options for a network that loses, repeats and reorders datagrams.
func lossy(seed uint64) []Option {
	return []Option{
		With(settings.Conduit.Env(), "udp"),
		With(settings.UDPFaults.Env(), fmt.Sprintf("loss=0.05,dup=0.02,reorder=0.05,seed=%d", seed%1000+1)),
	}
}

// TestOpenCollectivesOverLoss: collectives that overlap, of a part of the ranks in another order, over a network that
// loses datagrams.
func TestOpenCollectivesOverLoss(t *testing.T) {
	seed := source(t)
	must(t, 4, func(c *Comm) error {
		d, err := reversed(c)
		if err != nil || d == nil {
			return err
		}
		rnd := random(seed, 1) // the same at all ranks
		own := random(seed, 2+c.Rank())
		var open []pendingCall
		for i := range 40 {
			p, err := starters[rnd.IntN(len(starters))](d, i, vectorLengths[rnd.IntN(len(vectorLengths))]/3)
			if err != nil {
				return fmt.Errorf("call %d: %w", i, err)
			}
			for open = append(open, p); len(open) > own.IntN(6); {
				k := own.IntN(len(open))
				p := open[k]
				open = slices.Delete(open, k, k+1)
				if _, err := p.r.Wait(); err != nil {
					return fmt.Errorf("up to call %d: %w", i, err)
				}
				if err := p.check(); err != nil {
					return fmt.Errorf("up to call %d: %w", i, err)
				}
			}
		}
		for _, p := range open {
			if _, err := p.r.Wait(); err != nil {
				return err
			}
			if err := p.check(); err != nil {
				return err
			}
		}
		return nil
	}, lossy(seed)...)
}

// endings end all of a list of requests, each in its own way.
var endings = map[string]func(rs []Request) error{
	"Wait": func(rs []Request) error {
		for i := range rs {
			if _, err := rs[len(rs)-1-i].Wait(); err != nil {
				return err
			}
		}
		return nil
	},
	"Test": func(rs []Request) error {
		for left := active(rs); left > 0; {
			for i := range rs {
				if rs[i].Null() {
					continue
				}
				_, ok, err := rs[i].Test()
				if err != nil {
					return err
				}
				if ok {
					left--
				}
			}
		}
		return nil
	},
	"Waitall": func(rs []Request) error {
		isNull, sts := nulls(rs), make([]Status, len(rs))
		err := Waitall(rs, sts)
		for i, null := range isNull {
			if null && sts[i] != empty {
				return fmt.Errorf("null request %d has status %v: %w", i, sts[i], err)
			}
		}
		return err
	},
	"Waitany": func(rs []Request) error {
		ended, isNull := make([]bool, len(rs)), nulls(rs)
		for range active(rs) {
			i, _, err := Waitany(rs)
			if err != nil || i < 0 || ended[i] || isNull[i] {
				return fmt.Errorf("request %d of %v, of which %v were null: %w", i, ended, isNull, err)
			}
			ended[i] = true
		}
		if i, st, err := Waitany(rs); i != Undefined || st != empty || err != nil {
			return fmt.Errorf("of null requests Waitany gives %d, %v: %w", i, st, err)
		}
		return nil
	},
	"Waitsome": func(rs []Request) error {
		isNull := nulls(rs)
		for left := active(rs); left > 0; {
			which, _, err := Waitsome(rs)
			if err != nil || len(which) == 0 || slices.ContainsFunc(which, func(i int) bool { return isNull[i] }) {
				return fmt.Errorf("%d are left, got %v, of which %v were null: %w", left, which, isNull, err)
			}
			left -= len(which)
		}
		if which, sts, err := Waitsome(rs); which != nil || sts != nil || err != nil {
			return fmt.Errorf("of null requests Waitsome gives %v, %v: %w", which, sts, err)
		}
		return nil
	},
	"Testall": func(rs []Request) error {
		for {
			if ok, err := Testall(rs, nil); ok || err != nil {
				return err
			}
		}
	},
}

// nulls reports which of rs are null, and active counts the others.
func nulls(rs []Request) []bool {
	out := make([]bool, len(rs))
	for i := range rs {
		out[i] = rs[i].Null()
	}
	return out
}

func active(rs []Request) (n int) {
	for i := range rs {
		if !rs[i].Null() {
			n++
		}
	}
	return n
}

// TestMixedWaits: each way to wait takes a list with requests of messages, requests of collectives and null requests.
// Some ranks send messages before they enter the collectives; others enter the collectives first.
func TestMixedWaits(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			must(t, 3, func(c *Comm) error {
				d, err := c.Split(0, -c.Rank())
				if err != nil {
					return err
				}
				return everyWayInTurn(d, func(e *Comm) error { return mixed(e, name, end) })
			})
		})
	}
}

// mixed starts messages and collectives in turn, puts null requests between them, and ends them all.
func mixed(c *Comm, name string, end func(rs []Request) error) error {
	const rounds = 4
	var rs []Request
	var checks []func() error
	right, left := (c.Rank()+1)%3, (c.Rank()+2)%3
	for i := range rounds {
		n := []int{10, 20_000}[i%2]
		in := make([]byte, n)
		recv, err := Irecv(c, in, left, i)
		if err != nil {
			return err
		}
		p, err := starters[(i+c.Size())%len(starters)](c, i, n)
		if err != nil {
			return err
		}
		q, err := starters[1+i](c, i, n/10)
		if err != nil {
			return err
		}
		if i == rounds/2 && c.Rank() == 0 {
			time.Sleep(20 * time.Millisecond)
		}
		send, err := Isend(c, pattern(n, c.Rank(), right, i), right, i)
		if err != nil {
			return err
		}
		rs = append(rs, Request{}, p.r, recv, Request{}, q.r, send)
		checks = append(checks, p.check, q.check, func() error { return checkPattern(in, left, c.Rank(), i) })
	}
	if err := end(rs); err != nil {
		return err
	}
	for i := range rs {
		if !rs[i].Null() {
			return fmt.Errorf("%s has left request %d", name, i)
		}
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// TestFreeWithOpenCollective: Free tells that a collective is open. That ends with an error that names it, at the
// ranks that wait for the one that has freed, and nothing hangs.
func TestFreeWithOpenCollective(t *testing.T) {
	must(t, 2, func(c *Comm) error {
		d, err := c.Dup()
		if err != nil || d.Rank() == 1 {
			return errors.Join(err, c.Barrier(), wants(ErrCollective, d.Barrier()), d.Free(), c.Barrier())
		}
		r, err := d.Ibarrier()
		if err != nil {
			return err
		}
		if err := d.Free(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "Free") {
			return fmt.Errorf("Free: %w", errors.Join(errors.New("no ErrPending"), err))
		}
		_, err = r.Wait()
		if !errors.Is(err, ErrCancelled) || !strings.Contains(err.Error(), "Ibarrier, call 1") {
			return fmt.Errorf("the open call: %w", errors.Join(errors.New("no ErrCancelled"), err))
		}
		return errors.Join(wants(ErrComm, second(d.Ibarrier())), c.Barrier(), c.Barrier())
	})
}
