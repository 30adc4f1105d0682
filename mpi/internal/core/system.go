package core

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/groupmsg"
)

// system carries the messages of meetings: of ranks that agree on something without a communicator of their own. They
// travel in a context that belongs to no communicator. Package meet tells them apart.
type system struct {
	srv   *comm.Server
	nonce atomic.Uint64 // counts the communicators that this rank has named

	mu     sync.Mutex // guards desk; no lock is taken under it
	router groupmsg.Router[*awaited, []byte]
}

// awaited is a message that a meeting waits for. Who ends the request by its coming sets m before.
type awaited struct {
	req  comm.Req
	from int
	m    []byte
}

// systemCtx is the context of meetings, that of point to point of the system's id.
var systemCtx, _ = contextid.ContextsOf(contextid.System)

// sendMessage sends a message of a meeting to a rank of the world; it waits. The wait is in the registry as one of the
// meeting, since the message belongs to no communicator.
func (s *system) sendMessage(y *groupExchange, to int, contents []byte) error {
	b := append(y.name.Append(make([]byte, 0, groupmsg.Size+len(contents))), contents...)
	call := y.awaits(to)
	opt := comm.Options{Endable: true, Done: func(w *fult.Worker) { s.srv.EndCall(call, nil, w) }}
	r, err := s.srv.Isend(systemCtx, to, y.name.Tag(), b, &opt)
	if err != nil || r.Null() {
		s.srv.EndCall(call, nil, nil)
	}
	_, ended := y.waitReq(s.srv, call)
	switch {
	case err != nil:
		return err
	case ended != nil:
		s.srv.End(r)
		_, _ = s.srv.Wait(r)
		return ended
	}
	_, err = s.srv.Wait(r)
	return err
}

// recv gives the next message of a meeting from a rank of the world; it waits.
func (s *system) recv(y *groupExchange, from int) ([]byte, error) {
	return s.awaitMessage(y, s.expectFrom(y, from))
}

// expectFrom starts what await ends: a wait for the next message of a meeting from a rank of the world.
func (s *system) expectFrom(y *groupExchange, from int) *awaited {
	w := &awaited{req: y.awaits(from), from: from}
	s.mu.Lock()
	m, ok, post := s.router.Wait(y.name, from, w)
	s.mu.Unlock()
	if ok {
		w.m = m
		s.srv.EndCall(w.req, nil, nil)
	}
	if post {
		s.postRecv(from, y.name.Tag())
	}
	return w
}

// awaitMessage gives the message; it waits.
func (s *system) awaitMessage(y *groupExchange, w *awaited) ([]byte, error) {
	_, err := y.waitReq(s.srv, w.req)
	if err == nil {
		return w.m, nil
	}
	s.mu.Lock()
	s.router.Leave(y.name, w.from)
	s.mu.Unlock()
	return nil, err
}

// posted is a receive in the system context.
type posted struct {
	s         *system
	from, tag int
	req       comm.Req
	err       error // of the start
	buf       []byte
	events    atomic.Int32 // that the start has returned, and that the receive has ended
}

// postRecv starts a receive.
func (s *system) postRecv(from, tag int) {
	p := &posted{s: s, from: from, tag: tag}
	p.req, p.err = s.srv.Irecv(systemCtx, from, tag, nil, &comm.Options{Alloc: p.alloc, Done: p.onEvent})
	if p.err != nil {
		p.deliver(nil)
		return
	}
	p.onEvent(nil)
}

func (p *posted) alloc(n int) []byte {
	p.buf = make([]byte, n)
	return p.buf
}

// onEvent makes the second of the two events look at the message.
func (p *posted) onEvent(w *fult.Worker) {
	if p.events.Add(1) == 2 {
		p.deliver(w)
	}
}

// deliver hands out what the receive has brought.
func (p *posted) deliver(w *fult.Worker) {
	s, err := p.s, p.err
	if err == nil {
		_, err = s.srv.Wait(p.req)
	}
	var name groupmsg.Name
	var contents []byte
	if err == nil {
		name, contents, err = groupmsg.Cut(p.buf)
	}
	if err != nil {
		s.rankGone(p.from, err, w)
		return
	}
	s.mu.Lock()
	who, ok, post := s.router.Completed(name, p.from, contents)
	s.mu.Unlock()
	if post {
		s.postRecv(p.from, p.tag)
	}
	if ok {
		who.m = contents
		s.srv.EndCall(who.req, nil, w)
	}
}

// rankGone ends all that waits for a rank.
func (s *system) rankGone(from int, err error, w *fult.Worker) {
	s.mu.Lock()
	all := s.router.Gone(from)
	s.mu.Unlock()
	err = fmt.Errorf("a meeting waits for rank %d of the world: %w", from, err)
	for _, who := range all {
		s.srv.EndCall(who.req, err, w)
	}
}
