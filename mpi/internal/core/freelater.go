package core

import (
	"sync"

	"github.com/golci/golci/mpi/internal/contextid"
)

// freed are communicators that the program has freed while operations on them may be under way. They are let go when
// none is. To look is expensive, so it is done for many at once, or when ids run short.
type freed struct {
	mu   sync.Mutex // guards list; no lock is taken under it
	list []*Comm
}

// freedMost is how many communicators wait before they are looked at.
const freedMost = 32

// FreeLater is Free that lets operations go on that are under way (7.4.3: the communicator is deallocated when there
// are none). Their requests work as before. Nothing new may start on c. Error: ErrComm.
func (c *Comm) FreeLater() error {
	if err := c.mayFree(); err != nil {
		return err
	}
	c = c.origin()
	f := &c.proc.freed
	f.mu.Lock()
	f.list = append(f.list, c)
	n := len(f.list)
	f.mu.Unlock()
	if n%freedMost == 0 {
		f.sweep()
	}
	return nil
}

// sweepIfShort looks at the freed ones if less than half of the ids are free.
func (p *Proc) sweepIfShort() {
	if s := p.ids.Snapshot(); contextid.Plain.Short(&s) {
		p.freed.sweep()
	}
}

// sweep lets go of those on which nothing is under way any more. While it looks, others find the list empty.
func (f *freed) sweep() {
	f.mu.Lock()
	list := f.list
	f.list = nil
	f.mu.Unlock()
	if len(list) == 0 {
		return
	}
	pairs := make([][2]uint16, len(list))
	for i, c := range list {
		pairs[i] = [2]uint16{c.Ctx, c.collCtx}
	}
	idle := list[0].Srv.RetireIdle(pairs)
	var busy []*Comm
	for i, c := range list {
		if !idle[i] {
			busy = append(busy, c)
			continue
		}
		c.proc.colls.Remove(c.coll)
		c.leaveComm()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, busy...)
}
