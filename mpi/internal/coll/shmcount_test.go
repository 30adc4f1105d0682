package coll

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// counting gives a communicator as c whose calls through the shared segment count.
func counting(c *testComm) (*testComm, error) {
	d, err := c.Dup()
	for i := 0; i < shmFrom && err == nil; i++ {
		err = d.Barrier()
	}
	if err == nil && d.shared.b == nil {
		err = errors.New("there is no shared segment")
	}
	if err == nil {
		d.shared.crowded = true
	}
	return d, err
}

// TestCountsAsMessages: collectives that count give the bytes that they give by messages.
func TestCountsAsMessages(t *testing.T) {
	var all []trial
	for _, tr := range trials {
		if tr.name == "Barrier" || tr.name == "Allreduce" || tr.name == "Allgather" {
			all = append(all, tr)
		}
	}
	for _, size := range []int{countFrom, 7} {
		run(t, size, func(c *testComm) error {
			plain, err := c.Dup()
			if err != nil {
				return err
			}
			plain.shared.at = 0
			d, err := counting(c)
			if err != nil {
				return err
			}
			return compareAll(d, plain, all)
		}, "GOLCI_COLLECTIVES", "memory", "GOLCI_CHECK", "off")
	}
}

// TestCountAfterFailure: now and then one rank calls something else than the others, which count. All learn of it, and
// all calls after it work. A rank that is late learns of the failure when others have gone on, or their count is lost.
func TestCountAfterFailure(t *testing.T) {
	const size = 5
	rounds := 200
	if testing.Short() || invariants.Race {
		rounds = 40
	}
	seed := seedOf(t)
	allreduce := func(c *testComm) error {
		one, all := [1]byte{1}, [1]byte{}
		_, err := c.allAnd(one[:], all[:])
		if err == nil && all[0] != 1 {
			err = fmt.Errorf("the result is %d", all[0])
		}
		return err
	}
	run(t, size, func(c *testComm) error {
		c.OfRank.Isolate()
		d, err := counting(c)
		if err != nil {
			return err
		}
		same, late := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, uint64(1+c.Rank())))
		for i := range rounds {
			for range late.IntN(2) * late.IntN(500) {
				c.Server.Poll()
			}
			odd, call, other := same.IntN(2*size), (*testComm).Barrier, allreduce
			if same.IntN(2) == 0 {
				call, other = other, call
			}
			if odd == c.Rank() {
				call = other
			}
			err := call(d)
			learned := errors.Is(err, sentinel.ErrMismatch) || errors.Is(err, sentinel.ErrCollective)
			if odd < size && !learned || odd >= size && err != nil {
				return fmt.Errorf("rank %d, round %d, odd rank %d: %w", c.Rank(), i, odd, err)
			}
		}
		return nil
	}, "GOLCI_COLLECTIVES", "memory", "GOLCI_CHECK", "off")
}
