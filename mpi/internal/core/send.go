package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/signature"
)

// Started is the request of an operation of c.
func (c *Comm) Started(r comm.Req) Request { return Request{c: c, req: r} }

// SendAny sends in the cases that are not hot: to the null process, in a view, with a type that is new. Or it tells
// what is wrong.
func (c *Comm) SendAny(what string, e *signature.Elem, b []byte, dest, tag int, mode comm.Mode) error {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return err
	}
	return c.send(what, data{b: b, signature: c.signature(e)}, dest, tag, mode)
}

// IsendAny is SendAny that only starts.
func (c *Comm) IsendAny(what string, e *signature.Elem, b []byte, dest, tag int, mode comm.Mode) (Request, error) {
	if err := c.Bad(what, Sending, e.Err(), dest, tag); err != nil {
		return Request{}, err
	}
	return c.isend(what, comm.Nonblocking, data{b: b, signature: c.signature(e)}, dest, tag, mode)
}
