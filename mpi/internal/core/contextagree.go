package core

import (
	"errors"

	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// agree claims a new id of a range, the same on all ranks of c, for the function what. All ranks of c call it. uid is
// that of the communicator which is to have the id.
func (c *Comm) agree(what string, of contextid.Range) (id int, uid uint64, err error) {
	c.proc.sweepIfShort()
	if id, uid, ok := c.fromSpare(of); ok {
		return id, uid, nil
	}
	var call uint64
	ids, err := c.proc.ids.AgreeSome(of, c.id, c.wantSpare(of), c.anding(what, &call))
	if errors.Is(err, sentinel.ErrContexts) {
		err = c.commErrorf(what, ": %w", err)
	}
	if err != nil {
		return 0, 0, err
	}
	c.keepSpare(ids[1:], call)
	return ids[0], c.coll.ChildUID(call, 0), nil
}

// anding is allAnd for the function what. It sets call to the number of the call.
func (c *Comm) anding(what string, call *uint64) contextid.AndExchange {
	return func(mine, all []byte) (err error) {
		*call, err = c.allAnd(what, mine, all)
		return err
	}
}
