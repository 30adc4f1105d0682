package mpi

import (
	"errors"
	"testing"
	"time"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/rank"
)

// overOnePool runs f over the conduit whose ranks lend from one pool each.
func overOnePool(t *testing.T, n int, f func(c *Comm) error) {
	t.Helper()
	if err := Run(n, f, With(settings.Conduit.Env(), "udp"), WithLoan(40),
		WithTuning(rank.Tuning{Bank: 2000, LenderLimit: 200, MaxLoan: 400}), WithEager(8000)); err != nil {
		t.Error(err)
	}
}

func borrowed(c *Comm, from int) int {
	return c.Proc().Server().Endpoint().Credits().Peers[from].Borrowed.Loan
}

func TestHintPeersBorrows(t *testing.T) {
	overOnePool(t, 3, func(c *Comm) error {
		if c.Rank() == 0 {
			if err := c.HintPeers(100*256, 1); err != nil {
				return err
			}
			for end := time.Now().Add(10 * time.Second); borrowed(c, 1) < 100; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Errorf("rank 1 lent %d credits of 100 hinted", borrowed(c, 1))
					break
				}
				c.Proc().Server().Poll()
			}
			if n := borrowed(c, 2); n != 40 {
				t.Errorf("rank 2 lent %d credits without a hint", n)
			}
		}
		if err := c.HintPeers(1, 3); !errors.Is(err, ErrRank) {
			t.Errorf("rank 3 of 3: %v", err)
		}
		if err := c.HintPeers(-1, 0); !errors.Is(err, ErrCount) {
			t.Errorf("-1 bytes: %v", err)
		}
		return c.Barrier()
	})
}

// TestCollectivesHint: the first collective borrows for all of them.
func TestCollectivesHint(t *testing.T) {
	overOnePool(t, 4, func(c *Comm) error {
		before := borrowed(c, (c.Rank()+1)%4)
		if err := c.Barrier(); err != nil {
			return err
		}
		for end := time.Now().Add(10 * time.Second); borrowed(c, (c.Rank()+1)%4) <= before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("rank %d: no credits for its neighbour", c.Rank())
				break
			}
			c.Proc().Server().Poll()
		}
		return c.Barrier()
	})
}
