package core

import (
	"fmt"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/agree"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// doubt has receives and probes from any source on c end, or lets them wait again, as deaths and what the program has
// acknowledged of them demand. inPoll tells a caller that is in a poll.
func (c *Comm) doubt(inPoll bool, w *fult.Worker) {
	f := &c.proc.faults
	f.mu.Lock()
	acked := agree.NewSet(len(c.peers))
	if a := f.m[c.coll.uid]; a != nil {
		acked = a.acked
	}
	var err error
	for r, world := range c.peers {
		if c.Srv.Gone(int(world)) && !acked.Has(r) {
			err = fmt.Errorf("%w: rank %d of the world has died, and AckFailed has not acknowledged it",
				sentinel.ErrFailedPending, world)
			break
		}
	}
	f.mu.Unlock()
	c.Srv.RefuseAnySource(c.Ctx, err, inPoll, w)
}

// refuseAnySourceAll is doubt of the communicators that have a rank of the world, which has died. It is called by the
// poller.
func (p *Proc) refuseAnySourceAll(world int, w *fult.Worker) {
	for _, c := range p.colls.with(world) {
		c.doubt(true, w)
	}
}

// with lists the communicators that have a rank of the world.
func (x *colls) with(world int) (list []*Comm) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, st := range x.m {
		if st.c.peerOf(world) >= 0 {
			list = append(list, st.c)
		}
	}
	return list
}
