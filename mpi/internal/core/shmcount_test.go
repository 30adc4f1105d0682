package core

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// counting gives a communicator as c whose calls through the shared segment count.
func counting(c *Comm) (*Comm, error) {
	d, err := c.Dup()
	for i := 0; i < shmFrom && err == nil; i++ {
		err = d.Barrier()
	}
	if err == nil && d.coll.shared.b == nil {
		err = errors.New("there is no shared segment")
	}
	if err == nil {
		d.coll.shared.crowded = true
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
		run(t, size, func(c *Comm) error {
			plain, err := c.Dup()
			if err != nil {
				return err
			}
			plain.coll.shared.at = 0
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
	allreduce := func(c *Comm) error {
		one, all := [1]byte{1}, [1]byte{}
		_, err := c.allAnd("Allreduce", one[:], all[:])
		if err == nil && all[0] != 1 {
			err = fmt.Errorf("the result is %d", all[0])
		}
		return err
	}
	run(t, size, func(c *Comm) error {
		c.proc.Isolate()
		d, err := counting(c)
		if err != nil {
			return err
		}
		same, late := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, uint64(1+c.rank)))
		for i := range rounds {
			for range late.IntN(2) * late.IntN(500) {
				c.Srv.Poll()
			}
			odd, call, other := same.IntN(2*size), (*Comm).Barrier, allreduce
			if same.IntN(2) == 0 {
				call, other = other, call
			}
			if odd == c.rank {
				call = other
			}
			err := call(d)
			learned := errors.Is(err, sentinel.ErrMismatch) || errors.Is(err, sentinel.ErrCollective)
			if odd < size && !learned || odd >= size && err != nil {
				return fmt.Errorf("rank %d, round %d, odd rank %d: %w", c.rank, i, odd, err)
			}
		}
		return nil
	}, "GOLCI_COLLECTIVES", "memory", "GOLCI_CHECK", "off")
}
