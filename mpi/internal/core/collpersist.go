package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/contextid"
)

// CollInit makes a persistent request for a collective (6.13). The arguments are looked at now and at each start. The
// buffers, and the slices of k, belong to the request until it is freed. The request has a message space of its own:
// only the calls of CollInit must come in the same order on all ranks of c, the starts may come in any. So CollInit
// waits like Dup.
func (c *Comm) CollInit(k *Coll) (Request, error) {
	if _, _, err := c.readArgs(k); err != nil {
		return Request{}, err
	}
	kept := *k
	return c.Lasting(k.What, func(own *Comm) (Request, error) { return own.Start(&kept) })
}

// Lasting makes a persistent request for a collective of the function what: start starts it, on a communicator that the
// request has for itself. That is why Lasting waits like Dup, and why only its calls must come in one order.
func (c *Comm) Lasting(what string, start func(own *Comm) (Request, error)) (Request, error) {
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
