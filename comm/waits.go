package comm

// Waits is told of blocking calls that have waited. Its methods may be called from anywhere, at once.
type Waits interface {
	// Begin gives the time at which a wait begins.
	Begin() uint64
	// End tells of a wait that is over: what for, since when, and for which peer and tag; -1 stands for any, and for none.
	End(what string, since uint64, peer, tag int)
}

// quickRanks is how many ranks the shortest way of a receive may name. Without waits to be told of these are all.
// Else there are none: all receives go the way on which arguments are checked, which has time to look at s.waits.
func (s *Server) quickRanks(w Waits) int {
	if w != nil {
		return 0
	}
	return s.size
}

// recvReported is Recv where somebody is told of waits.
func (s *Server) recvReported(ctx uint16, src, tag int, buf []byte) (Status, error) {
	if err := s.mayWait("receive", src, tag); err != nil {
		return Status{}, err
	}
	return s.recvAndWait(s.newRecv(ctx, src, tag, buf))
}

// awaitOp waits until o is done.
func (s *Server) awaitOp(o *op) {
	if s.waits != nil && !o.done.Ready() {
		s.awaitReported(o)
		return
	}
	s.eng.Wait(&o.done)
}

func (s *Server) awaitReported(o *op) {
	what, peer, tag := "operation", AnySource, AnyTag
	switch o.role {
	case roleRecv:
		what = "receive"
	case roleSend:
		what = "send"
	}
	if !o.wild { // what a wildcard stands for changes when it is matched
		peer, tag = int(o.peer), int(o.tag)
	}
	since := s.waits.Begin()
	s.eng.Wait(&o.done)
	s.waits.End(what, since, peer, tag)
}

// manyBegin and manyEnd are around a wait for several operations.
func (s *Server) manyBegin() uint64 {
	if s.waits == nil {
		return 0
	}
	return s.waits.Begin()
}

func (s *Server) manyEnd(since uint64) {
	if s.waits != nil {
		s.waits.End("requests", since, AnySource, AnyTag)
	}
}
