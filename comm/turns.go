package comm

import (
	"slices"
	"sync"

	"github.com/golci/golci/comm/internal/match"
)

// A rendezvous that the receiver begins has no envelope. A large receive invites its message when it is posted: it
// tells the sender its number. A send that finds the RTR sends its bytes at once, in chunks under that number.
//
// This needs a context without wildcards whose receives know the lengths of their messages (firstNeeds). Then the n-th
// large send to a rank under a key and the n-th large receive there are for each other, and both ranks count them
// (match.Turns). A send whose turn is not invited sends its envelope. A receive whose envelope has come answers that,
// as ever. If both are on their way the RTR counts: it is the answer to the envelope, which the receiver drops.

// firstTags is how many tags of a context can have RTRs: those below it. Each rank keeps a count for each of
// them that has had a large message.
const firstTags = 1024

// isReceiverFirst tells whether a message of n bytes, from or to peer, goes in this way. Both ranks see it alike. Where
// a ring joins them the bytes are copied directly, by both, once each has told the other where they are (transfer.go).
// That is quicker than chunks that need no answer.
func (s *Server) isReceiverFirst(ctx uint16, peer, tag int, n int64) bool {
	return ctx >= FirstAsserted && n > int64(s.eager) && tag < firstTags && s.assertedOf(ctx)&firstNeeds == firstNeeds &&
		!s.e.Ring(peer)
}

// rtr is a receive that waits for its message.
type rtr struct {
	number    uint64 // of the receive
	size      int64
	signature uint64
}

// sendTurns are the large sends to one rank under one key. The lock of the pair guards it.
type sendTurns struct {
	match.Turns
	invited map[uint64]rtr    // by turn; the send is still to come
	offered map[uint64]uint64 // numbers, by turn, of the sends whose envelope has left and is not answered
}

// sendsOf gives the turns of sends to the rank that key names as source. The pair is locked.
func (s *Server) sendsOf(key uint64) *sendTurns {
	if t, ok := s.sends.Load(key); ok {
		return t.(*sendTurns)
	}
	t := &sendTurns{invited: make(map[uint64]rtr), offered: make(map[uint64]uint64)}
	s.sends.Store(key, t)
	return t
}

// recvTurns are the large receives, by key.
type recvTurns struct {
	mu   sync.Mutex // held while a receive or an envelope takes its turn and is matched
	keys map[uint64]*match.Turns
}

func (r *recvTurns) turnsOf(key uint64) *match.Turns {
	t := r.keys[key]
	if t == nil {
		if r.keys == nil {
			r.keys = make(map[uint64]*match.Turns)
		}
		t = new(match.Turns)
		r.keys[key] = t
	}
	return t
}

// dropAsserts ends the promises of contexts that are retired, and what is counted for them. Called by the poller.
func (s *Server) dropAsserts(ctxs []uint16) {
	promised := false
	for _, ctx := range ctxs {
		if s.assertedOf(ctx) != 0 {
			promised = true
			s.Assert(ctx, 0)
		}
	}
	if promised {
		s.dropTurns(func(ctx uint16) bool { return slices.Contains(ctxs, ctx) })
	}
}

func (s *Server) dropTurns(in func(ctx uint16) bool) {
	s.receives.mu.Lock()
	for key := range s.receives.keys {
		if in(keyContext(key)) {
			delete(s.receives.keys, key)
		}
	}
	s.receives.mu.Unlock()
	s.sends.Range(func(key, _ any) bool {
		if in(keyContext(key.(uint64))) {
			s.sends.Delete(key) // sends that are under way go on with what they have of it
		}
		return true
	})
}
