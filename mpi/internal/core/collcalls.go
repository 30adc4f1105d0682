package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/coll"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/contextid"
)

// forColl is c as its collectives see it.
func (c *Comm) forColl() *coll.View { return &c.calls }

// unusable tells that no collective can start on c; checkUsable tells why. A revoked one is found out later.
func (c *Comm) unusable() bool {
	return c == nil || c.proc == nil || c.proc.rank.Ended() != nil || c.origin().Freed.Load()
}

// Do carries out a collective and waits for its end.
func (c *Comm) Do(k *argument.Description) error {
	if c.unusable() {
		return c.checkUsable(k.What)
	}
	return c.forColl().Do(k)
}

// Start is Do that does not wait.
func (c *Comm) Start(k *argument.Description) (Request, error) {
	if c.unusable() {
		return Request{}, c.checkUsable(k.What)
	}
	return c.wrap(c.forColl().Start(k))
}

// wrap is the request of what has been started on c.
func (c *Comm) wrap(r comm.Req, err error) (Request, error) {
	if err != nil {
		return Request{}, err
	}
	return Request{c: c, req: r}, nil
}

// Used returns how many parts each buffer of k has. It is 0 for a buffer that is no array of parts. It is -1 for a
// buffer that the rank does not use. A call with a bad root uses nothing.
func (c *Comm) Used(k *argument.Description) (ins, outs int) {
	if c == nil || c.proc == nil {
		return -1, -1
	}
	return c.forColl().Used(k)
}

// Barrier waits until all ranks of c have called it.
func (c *Comm) Barrier() error { return c.BarrierFor("Barrier") }

// BarrierFor is Barrier for the function what.
func (c *Comm) BarrierFor(what string) error {
	if c.unusable() {
		return c.checkUsable(what)
	}
	return c.forColl().Barrier(what)
}

// Ibarrier is Barrier that does not wait.
func (c *Comm) Ibarrier() (Request, error) {
	if c.unusable() {
		return Request{}, c.checkUsable("Ibarrier")
	}
	return c.wrap(c.forColl().Ibarrier())
}

// CollInit makes a persistent request for a collective (6.13). The arguments are looked at at each start. Those with
// datatypes, and those of neighbourhoods, are looked at now, too. The buffers, and the slices of k, belong to the
// request until it is freed. The request has a message space of its own. Only the calls of CollInit must come in the
// same order on all ranks of c. The starts may come in any order. So CollInit waits like Dup.
func (c *Comm) CollInit(k *argument.Description) (Request, error) {
	if c.unusable() {
		return Request{}, c.checkUsable(k.What)
	}
	if err := c.forColl().Prepare(k); err != nil {
		return Request{}, err
	}
	kept := *k
	return c.keepStarting(k.What, func(own *Comm) (Request, error) {
		k := kept // which a start may describe
		return own.Start(&k)
	})
}

// keepStarting makes a persistent request for a collective of the function what: start starts it, on a communicator
// that the request has for itself. That is why keepStarting waits like Dup, and why only its calls must come in one
// order.
func (c *Comm) keepStarting(what string, start func(own *Comm) (Request, error)) (Request, error) {
	own, err := c.dup(what, contextid.Plain)
	if err != nil {
		return Request{}, err
	}
	own = own.view(c.until, nil)
	return c.kept(persistentState{comm: own, start: func(*Comm) (comm.Req, error) {
		r, err := start(own)
		return r.req, err
	}}), nil
}

// allAnd sets all to the bitwise and of the mine of all ranks of c, for the function what. It gives the number of the
// call. All ranks of c call it.
func (c *Comm) allAnd(what string, mine, all []byte) (call uint64, err error) {
	if c.unusable() {
		return 0, c.checkUsable(what)
	}
	return c.forColl().AllAnd(what, mine, all)
}

// CheckNotPlace checks, for the function what, that a buffer is no InPlace.
func (c *Comm) CheckNotPlace(what, name string, b []byte) error {
	return coll.CheckNotPlace(c, what, name, b)
}
