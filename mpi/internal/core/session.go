package core

import (
	"fmt"
	"strings"

	"github.com/golci/golci/mpi/internal/group"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Session is a part of a program with a buffer for the buffered sends of its communicators (11.3, 3.6). Those are the
// communicators of its groups, and what is made of them.
type Session struct {
	p      *Proc
	buffer buffering
}

// Process sets that every session has (11.3.2).
const (
	WorldSet = "mpi://WORLD" // all ranks of the job
	SelfSet  = "mpi://SELF"  // the rank itself
)

// NewSession makes one.
func (p *Proc) NewSession() *Session { return &Session{p: p} }

// Group is the processes of a set (11.3.2). Names of the standard are compared without regard to case. ErrArgument: the
// name is not known.
func (s *Session) Group(set string) (*group.Group, error) {
	of := s.p.world
	switch {
	case strings.EqualFold(set, SelfSet):
		of = s.p.self
	case !strings.EqualFold(set, WorldSet):
		return nil, fmt.Errorf("%w: there is no process set %q", sentinel.ErrArgument, set)
	}
	g, err := of.Group()
	if err != nil {
		return nil, err
	}
	return g.Of(s), nil
}

// creation is what a communicator is made in.
type creation struct {
	p *Proc
	s *Session // nil: none
}

// home is where communicators are made that are made of c.
func (c *Comm) home() creation { return creation{p: c.proc, s: c.origin().session} }

// homeOf is that of communicators of a group.
func (p *Proc) homeOf(g *group.Group) creation {
	s, _ := g.Owner().(*Session)
	return creation{p: p, s: s}
}

// owner is that of the groups of c.
func (c *Comm) owner() any {
	if s := c.origin().session; s != nil {
		return s
	}
	return nil
}

// AttachBuffer attaches memory for buffered sends on communicators of the session without a buffer of their own.
func (s *Session) AttachBuffer(what string, mem []byte) error {
	if err := s.buffer.attachBuffer(s.p.srv, mem); err != nil {
		return s.p.self.commErrorf(what, ": %w", err)
	}
	return nil
}

// DetachBuffer is Comm.DetachBuffer of the session's own buffer.
func (s *Session) DetachBuffer(what string) (*Buffer, error) { return s.buffer.detach(s.p.self, what) }

// FlushBuffer is Comm.FlushBuffer of the session's own buffer.
func (s *Session) FlushBuffer(what string) (Request, error) {
	return s.buffer.flushSends(s.p.self, what), nil
}
