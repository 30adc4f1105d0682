package core

import (
	"math/bits"

	"github.com/golci/golci/mpi/internal/agree"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Shrink makes a communicator of the living ranks of c, in their order. It waits for them. All of them agree on who is
// living, but one may die after that. It works on a revoked communicator, too. Errors: ErrContexts, ErrComm,
// ErrConcurrent, and ErrPeer on a rank that the others take for dead.
func (c *Comm) Shrink() (*Comm, error) {
	group, rank, id, uid, err := c.survivors(c.scope("Shrink"))
	if err != nil {
		return nil, err
	}
	return newComm(c.home(), id, uid, group, rank), nil
}

// Ishrink is Shrink that does not wait. The communicator may be used when the request is done.
func (c *Comm) Ishrink() (*Comm, Request, error) {
	const what = "Ishrink"
	if err := c.agreeable(what); err != nil {
		return nil, Request{}, err
	}
	d, sc := new(Comm), c.scope(what).beyond(c)
	req := c.later(&sc, func() error {
		group, rank, id, uid, err := c.survivors(sc)
		if err == nil {
			d.group, d.peers, d.rank = group, group, rank
			d.enterUse(c.home(), id, uid)
		}
		return err
	})
	return d, Request{c: c, req: req}, nil
}

// survivors agrees on who is living and on an id that all of them have claimed. Each try is two agreements: what ids of
// a word are free everywhere, and whether all could claim the first of them.
func (c *Comm) survivors(sc scope) (group []int32, rank, id int, uid uint64, err error) {
	what, words := sc.what, contextid.Plain.To-contextid.Plain.From
	for try := range contextid.EmptyTries * words {
		word := contextid.Plain.From + try%words
		free := c.freeIDs(word)
		v, err := c.decided(sc, free)
		if err != nil {
			return nil, 0, 0, 0, err
		}
		if v.value.Flag == 0 {
			continue
		}
		id := 64*word + bits.TrailingZeros64(v.value.Flag)
		claimed, mine := uint64(0), c.proc.ids.Claim(id)
		if mine {
			claimed = 1
		}
		if v, err = c.decided(sc, claimed); err != nil {
			return nil, 0, 0, 0, err
		}
		if v.value.Flag&1 == 0 {
			if mine {
				c.proc.ids.Release(id)
			}
			continue
		}
		group, rank := c.without(v.value.Failed)
		if len(group) < len(c.peers) {
			c.proc.faults.survived.Store(true)
		}
		if rank < 0 {
			return nil, 0, 0, 0, c.commErrorf(what, ": %w: the others take this rank for dead", sentinel.ErrPeer)
		}
		return group, rank, id, contextid.Mix(c.coll.UID, ^v.number), nil
	}
	return nil, 0, 0, 0, c.commErrorf(what, ": %w", sentinel.ErrContexts)
}

// freeIDs is a word of the ids that this rank does not use.
func (c *Comm) freeIDs(word int) uint64 {
	c.proc.freed.sweep()
	free := c.proc.ids.Snapshot()
	return free[word]
}

// without is the group of c without some ranks, and the place of this rank in it, -1 if that is one of them.
func (c *Comm) without(failed agree.Set) (group []int32, rank int) {
	rank = -1
	for r, w := range c.peers {
		if failed.Has(r) {
			continue
		}
		if r == c.rank {
			rank = len(group)
		}
		group = append(group, w)
	}
	return group, rank
}
