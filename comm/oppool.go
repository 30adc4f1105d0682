package comm

// getOp gives an op that nobody else knows.
func (s *Server) getOp() *op {
	if o := s.ops.Get(); o != nil {
		return o
	}
	o := newOp(s)
	o.home = -1
	return o
}

// putOp ends the use of o, which nobody else may know any more.
func (s *Server) putOp(o *op) {
	o.role = roleFree
	o.gen++
	o.data, o.cursor, o.err, o.alloc, o.turns = nil, nil, nil, nil, nil
	o.word.Free()
	s.ops.Put(o)
}
