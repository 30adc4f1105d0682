package core

import "github.com/golci/golci/comm"

// The point to point calls of a communicator on the server, with ranks of c. They honour the context of a view.

// sendData sends d; it waits.
func (c *Comm) sendData(to, tag int, d *data, mode comm.Mode) error {
	switch {
	case c.plain() && d.cur != nil:
		return c.Srv.SendFrom(c.Ctx, int(c.group[to]), tag, d.cur, mode)
	case c.plain():
		return c.Srv.Send(c.Ctx, int(c.group[to]), tag, d.b, mode)
	case c.until == nil && d.cur == nil:
		return c.Srv.SendTyped(c.Ctx, int(c.group[to]), tag, d.b, mode, d.sendSignature())
	}
	r, err := c.isendData(comm.Blocking, to, tag, d, mode)
	if err == nil {
		_, err = c.waitReq(r)
	}
	return err
}

// recvData receives into d from a rank or AnySource; it waits. The status names the source by its world rank.
func (c *Comm) recvData(from, tag int, d *data) (comm.Status, error) {
	switch {
	case c.plain() && d.cur != nil:
		return c.Srv.RecvInto(c.Ctx, c.world(from), tag, d.cur)
	case c.plain():
		return c.Srv.Recv(c.Ctx, c.world(from), tag, d.b)
	case c.until == nil && d.cur == nil:
		return c.Srv.RecvTyped(c.Ctx, c.world(from), tag, d.b, d.signature)
	}
	r, err := c.irecvData(comm.Blocking, from, tag, d)
	if err != nil {
		return comm.Status{}, err
	}
	return c.waitReq(r)
}

// recvAlloc receives into what alloc gives; it waits. The status is as for recvData.
func (c *Comm) recvAlloc(from, tag int, shape uint64, alloc func(n int) []byte) (comm.Status, error) {
	if c.plain() {
		return c.Srv.RecvAlloc(c.Ctx, c.world(from), tag, alloc)
	}
	if err := c.contextOver(); err != nil {
		return comm.Status{}, err
	}
	r, err := c.Srv.IrecvWith(c.Ctx, c.world(from), tag, nil, alloc, c.terms(comm.Blocking, shape))
	if err != nil {
		return comm.Status{}, err
	}
	return c.waitReq(r)
}

// isendData starts to send d, for a call of form f.
func (c *Comm) isendData(f comm.Form, to, tag int, d *data, mode comm.Mode) (comm.Req, error) {
	if c.plain() && d.cur == nil {
		return c.Srv.IsendAs(f, c.Ctx, int(c.group[to]), tag, d.b, mode)
	}
	if err := c.contextOver(); err != nil {
		return comm.Req{}, err
	}
	return c.isendWith(to, tag, d, mode, c.terms(f, d.sendSignature()))
}

// isendWith is isendData on terms.
func (c *Comm) isendWith(to, tag int, d *data, mode comm.Mode, t comm.OpOptions) (comm.Req, error) {
	if d.cur != nil {
		return c.Srv.IsendFrom(c.Ctx, int(c.group[to]), tag, d.cur, mode, t)
	}
	return c.Srv.IsendWith(c.Ctx, int(c.group[to]), tag, d.b, mode, t)
}

// sendSignature is the signature that a message of d carries: nothing has no type.
func (d *data) sendSignature() uint64 {
	if d.len() == 0 {
		return 0
	}
	return d.signature
}

// irecvData starts to receive into d from a rank or AnySource, for a call of form f.
func (c *Comm) irecvData(f comm.Form, from, tag int, d *data) (comm.Req, error) {
	if c.plain() && d.cur == nil {
		return c.Srv.IrecvAs(f, c.Ctx, c.world(from), tag, d.b)
	}
	if err := c.contextOver(); err != nil {
		return comm.Req{}, err
	}
	return c.irecvWith(from, tag, d, c.terms(f, d.signature))
}

// irecvWith is irecvData on terms.
func (c *Comm) irecvWith(from, tag int, d *data, t comm.OpOptions) (comm.Req, error) {
	if d.cur != nil {
		return c.Srv.IrecvInto(c.Ctx, c.world(from), tag, d.cur, t)
	}
	return c.Srv.IrecvWith(c.Ctx, c.world(from), tag, d.b, nil, t)
}
