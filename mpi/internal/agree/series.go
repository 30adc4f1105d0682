// Package agree has the agreement of the ranks of a communicator in spite of failures, for MPIX_Comm_agree and
// MPIX_Comm_shrink. It is a state machine: calls, messages and failures in, messages and decisions out.
//
// It needs these things of its surroundings. A message between two living ranks arrives once. Messages may overtake
// each other, and those of a rank that has failed may be lost. A failure is told to all living ranks some time, and
// nobody is told of a failure that is none.
package agree

import (
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Caller stands for the local call in Action.To.
const Caller = -1

// Action is a message to be sent. If To is Caller, Message.Value is decided, and the call with that number returns.
type Action struct {
	To      int
	Message Message
}

// Series is one rank's part in all agreements on a communicator, one after the other. One goroutine at a time uses it.
// It shares the sets in messages, which nobody may change.
type Series struct {
	self, ranks int
	failed      Set
	calls       uint64      // number of calls here
	open        []*instance // those that may still need something, by number
	out         []Action    // of the call in progress
	lowest      int         // the ranks below it have failed
	looks       int         // at whether a rank lives, since the beginning; for tests
}

// instance is one agreement.
type instance struct {
	number   uint64
	called   bool   // here
	stage    Stage  // of value
	value    Value  // what this rank brings, without failures, or has locked, or knows to be decided
	round    int    // to whom this rank has voted, -1: to nobody yet
	votes    *tally // nil: nobody has voted here
	proposed bool
	acks     Set
	voted    int // the ranks below it have voted, or failed
	acked    int // the ranks below it have locked the proposal, or failed
}

// New is the part of rank self of a communicator of so many ranks, before any agreement.
func New(self, ranks int) *Series {
	return &Series{self: self, ranks: ranks, failed: NewSet(ranks)}
}

// Failures is the ranks that this rank knows to have failed: those it was told of, and those of decided values. Nobody
// may change it.
func (s *Series) Failures() Set { return s.failed }

// Call takes part in the next agreement with a flag, and with the failures that this rank has acknowledged. errs.Other:
// the call before has not returned. errs.Intern: acked is a set for another number of ranks.
func (s *Series) Call(flag uint64, acked Set) ([]Action, error) {
	if !acked.fitsSize(s.ranks) {
		return nil, fmt.Errorf("%w: acknowledged failures %x of %d ranks", errs.Intern, []uint64(acked), s.ranks)
	}
	if s.calls > 0 && s.instance(s.calls-1).stage != Decided {
		return nil, fmt.Errorf("%w: agreement %d has not ended", errs.Other, s.calls-1)
	}
	i := s.instance(s.calls)
	s.calls++
	i.called, i.value = true, Value{Flag: flag, Acked: slices.Clone(acked)}
	s.vote(i)
	s.advanceInstance(i)
	return s.doneActions(), nil
}

// Failed tells that a rank has failed. It may be told again.
func (s *Series) Failed(rank int) []Action {
	if rank < 0 || rank >= s.ranks || rank == s.self || s.failed.Has(rank) {
		return nil
	}
	news := NewSet(s.ranks)
	news.Add(rank)
	s.learnFailed(news)
	return s.doneActions()
}

// Step takes a message from a rank. Messages that come too late have no effect. errs.Intern: it cannot have been sent.
func (s *Series) Step(from int, m Message) ([]Action, error) {
	if m.Number+1 < s.calls && s.findInstance(m.Number) == nil {
		return nil, nil
	}
	i, ok := s.accepts(from, m)
	if !ok {
		return nil, fmt.Errorf("%w: message %d of agreement %d from rank %d at rank %d, in agreement %d",
			errs.Intern, int(m.Kind), m.Number, from, s.self, s.calls)
	}
	switch m.Kind {
	case Vote:
		s.takeVote(i, from, m)
	case Propose:
		s.takeProposal(i, from, m)
	case Ack:
		i.acks.Add(from)
		s.advanceInstance(i)
	case Decide:
		s.decide(i, m.Value)
	}
	return s.doneActions(), nil
}

// accepts finds the agreement of a message; !ok: no rank can have sent it.
func (s *Series) accepts(from int, m Message) (i *instance, ok bool) {
	if from < 0 || from >= s.ranks || from == s.self || m.Number > s.calls || m.Stage >= stages ||
		m.Kind != Ack && !(m.Value.Failed.fitsSize(s.ranks) && m.Value.Acked.fitsSize(s.ranks)) {
		return nil, false
	}
	i = s.instance(m.Number)
	switch m.Kind {
	case Vote:
		ok = m.Round == s.self
	case Propose:
		ok = m.Round == from && i.called
	case Ack:
		ok = m.Round == s.self && i.proposed
	case Decide:
		ok = i.called
	}
	return i, ok
}
