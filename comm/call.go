package comm

import "github.com/golci/golci/fult"

// NewCall gives a request for an operation of the layer above, which ends it with EndCall. It is waited for, tested and
// used up as one of the server's own. Cancel and End leave it as it is: who wants it to end must tell the layer above.
func (s *Server) NewCall() Req {
	o := s.newRecv(0, 0, 0, nil)
	o.role = roleCall
	o.endable = true // a wait whose context has ended waits for the end, which comes soon
	return Req{o, o.gen}
}

// EndCall ends a request of NewCall, once, with err. It may be called from anywhere; w is the worker it runs on, or
// nil.
func (s *Server) EndCall(r Req, err error, w *fult.Worker) {
	r.o.err = err
	r.o.done.Complete(w)
}
