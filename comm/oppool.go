package comm

import "github.com/golci/golci/internal/request"

// opPools hold the ops that are not in use, by kind.
type opPools struct{ receives, sends, messages request.Pool[op] }

func newReceive(s *Server) *op {
	o, part := newOp[receiving](s)
	o.recv = part
	return o
}

// newOp makes an op and its part, in one piece of memory.
func newOp[P any](s *Server) (*op, *P) {
	x := new(struct {
		node
		part P
	})
	o := &x.Value
	o.s, o.packetPool = s, -1
	return o, &x.part
}

// getSend gives an op for a send that nobody else knows.
func (s *Server) getSend() *op {
	if o := s.free.sends.Get(); o != nil {
		return o
	}
	o, part := newOp[sending](s)
	o.send = part
	return o
}

// getMessage gives an op for an unexpected message that nobody else knows.
func (s *Server) getMessage() *op {
	if o := s.free.messages.Get(); o != nil {
		return o
	}
	return newMessage(s)
}

func newMessage(s *Server) *op {
	o, part := newOp[arrival](s)
	o.msg = part
	return o
}

// putOp ends the use of o, which nobody else may know any more.
func (s *Server) putOp(o *op) {
	if o.role == roleRTS {
		s.envelopes.Add(-1)
	}
	o.err = nil
	o.retireOp()
	switch {
	case o.recv != nil:
		s.free.receives.Put(o)
	case o.send != nil:
		s.free.sends.Put(o)
	default:
		s.free.messages.Put(o)
	}
}

// retireOp makes o one that is not in use, and has no error. It lets go of the memory of the program.
func (o *op) retireOp() {
	o.role = roleFree
	o.gen++
	o.data, o.cursor = nil, nil
	if o.recv != nil {
		o.recv.alloc = nil
	}
	o.word.Free()
}
