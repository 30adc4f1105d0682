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
	if a := f.m[c.coll.UID]; a != nil {
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
	for _, st := range p.colls.With(world) {
		st.Comm().(*Comm).doubt(true, w)
	}
}
