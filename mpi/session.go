package mpi

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/core"
)

// Session is a part of a program that finds its processes by names, and not by way of the world communicator (11.3).
// Libraries use sessions so that they need not be handed a communicator. Any goroutine may use one.
type Session struct {
	p      *Proc
	core   *core.Session
	closed atomic.Bool
}

// Process sets that every session has (11.3.2).
const (
	WorldSet = "mpi://WORLD" // all ranks of the job
	SelfSet  = "mpi://SELF"  // the rank itself
)

// OpenSession begins a session (11.3.1, MPI_Session_init). There may be any number of them. It is local.
// Errors: ErrFinalized, ErrAborted.
func (p *Proc) OpenSession() (*Session, error) {
	if _, err := p.World().WorldRank(0); err != nil {
		return nil, err
	}
	return &Session{p: p, core: p.core().NewSession()}, nil
}

// ProcessSets are the names of the process sets (11.3.2, MPI_Session_get_nth_pset).
func (s *Session) ProcessSets() []string { return []string{WorldSet, SelfSet} }

// Group is the processes of a set (11.3.2, MPI_Group_from_session_pset). Names that begin with mpi:// are compared
// without regard to case. Errors: ErrArgument for a name that is not known, ErrSession after Close.
func (s *Session) Group(set string) (Group, error) {
	if s == nil || s.closed.Load() {
		return Group{}, fmt.Errorf("mpi: Session.Group: %w", ErrSession)
	}
	g, err := s.core.Group(set)
	if err != nil {
		return Group{}, fmt.Errorf("mpi: Session.Group: %w", err)
	}
	return Group{g: g}, nil
}

// CreateComm makes a communicator of a group: see Proc.CreateFromGroup. ErrSession: s has been closed.
func (s *Session) CreateComm(g Group, text string) (*Comm, error) {
	if s == nil || s.closed.Load() {
		return nil, fmt.Errorf("mpi: Session.CreateComm: %w", ErrSession)
	}
	return s.p.CreateFromGroup(g, text)
}

// AttachBuffer attaches memory for buffered sends on the communicators of the session: those that are made of its
// groups, and what is made of them. A communicator's own buffer goes before, the rank's comes after (3.6,
// MPI_Session_attach_buffer). See Comm.AttachBuffer. Errors: ErrBuffer, ErrSession.
func (s *Session) AttachBuffer(mem []byte) error {
	if s == nil || s.closed.Load() {
		return fmt.Errorf("mpi: Session.AttachBuffer: %w", ErrSession)
	}
	return s.core.AttachBuffer("Session.AttachBuffer", mem)
}

// DetachBuffer is Comm.DetachBuffer of the session's own buffer (3.6, MPI_Session_detach_buffer), which may be taken
// back after Close, too.
func (s *Session) DetachBuffer() ([]byte, error) {
	if s == nil {
		return nil, fmt.Errorf("mpi: Session.DetachBuffer: %w", ErrSession)
	}
	b, err := s.core.DetachBuffer("Session.DetachBuffer")
	return b.Mem(), err
}

// FlushBuffer is Comm.FlushBuffer of the session's own buffer (3.6, MPI_Session_iflush_buffer).
func (s *Session) FlushBuffer() (Request, error) {
	if s == nil {
		return Request{}, fmt.Errorf("mpi: Session.FlushBuffer: %w", ErrSession)
	}
	r, err := s.core.FlushBuffer("Session.FlushBuffer")
	return Request(r), err
}

// Close ends a session (11.3.1, MPI_Session_finalize). Communicators that were made in it stay until they are freed. It
// is local. ErrSession: it has been closed.
func (s *Session) Close() error {
	if s == nil || s.closed.Swap(true) {
		return fmt.Errorf("mpi: Session.Close: %w", ErrSession)
	}
	return nil
}
