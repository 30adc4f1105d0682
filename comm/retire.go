package comm

import (
	"fmt"
	"slices"

	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/observe/pending"
)

// A context that is retired takes no messages any more: what is left of it is ended, and what arrives is refused. Its
// number may be used again once nothing of it can arrive. For that each rank that has used it tells each other so after
// its last message, by a notice.

// RetiredCounts counts what a retired context had left at this rank.
type RetiredCounts struct {
	Receives int // and other operations that waited: they have ended with ErrCancelled
	Sends    int // not done: they go on, and their receivers still may get them
	Messages int // not received: they are gone
}

// Add adds what another context had left.
func (l *RetiredCounts) Add(o RetiredCounts) {
	l.Receives += o.Receives
	l.Sends += o.Sends
	l.Messages += o.Messages
}

// Retire ends the use of contexts at this rank, until Reopen. It may wait for a poll that is under way.
func (s *Server) Retire(ctxs ...uint16) (left RetiredCounts) {
	s.e.AsPoller(func() { left = s.retireContexts(ctxs, nil) }) // nothing arrives meanwhile
	return left
}

// retireContexts is Retire, called by the poller.
func (s *Server) retireContexts(ctxs []uint16, w *fult.Worker) (left RetiredCounts) {
	var messages []waiting
	s.matching.eachWaiting(func(ctx uint16, side hashtable.Side, p match.Pattern, o *op) {
		if side == hashtable.Arrive && slices.Contains(ctxs, ctx) {
			messages = append(messages, waiting{o, ctx, p})
		}
	})
	left = RetiredCounts{Receives: s.endIn(ctxs, w), Messages: s.dropMessages(messages)}
	s.ids.Each(func(_ uint64, o *op) {
		if o.role == roleSend && !o.word.Left() && slices.Contains(ctxs, o.ctx) {
			left.Sends++
		}
	})
	for _, ctx := range ctxs {
		s.retired[ctx] = true
	}
	s.dropAsserts(ctxs)
	return left
}

// RetireIdle is Retire of those pairs of contexts in which no receive is posted, and no operation that somebody waits
// for is under way. It tells which of the pairs these are, and does nothing to the others. It looks through all
// messages once, which takes long where the table for them is large.
func (s *Server) RetireIdle(pairs [][2]uint16) (idle []bool) {
	place := make(map[uint16]int, 2*len(pairs))
	idle = make([]bool, len(pairs))
	for i, p := range pairs {
		place[p[0]], place[p[1]], idle[i] = i, i, true
	}
	s.e.AsPoller(func() {
		messages := make([][]waiting, len(pairs))
		s.matching.eachWaiting(func(ctx uint16, side hashtable.Side, p match.Pattern, o *op) {
			i, ok := place[ctx]
			switch {
			case !ok:
			case side == hashtable.Post:
				idle[i] = false
			default:
				messages[i] = append(messages[i], waiting{o, ctx, p})
			}
		})
		s.ids.Each(func(_ uint64, o *op) {
			if i, ok := place[o.ctx]; ok && (o.role == roleSend || o.role == roleRecv) && !o.word.Left() {
				idle[i] = false
			}
		})
		s.registry.Calls.Each(func(p *pending.Op) {
			if i, ok := place[p.Context]; ok {
				idle[i] = false
			}
		})
		for i, p := range pairs {
			if idle[i] {
				s.dropMessages(messages[i])
				s.retired[p[0]], s.retired[p[1]] = true, true
				s.dropAsserts(p[:])
			}
		}
	})
	return idle
}

// Reopen lets retired contexts take messages again.
func (s *Server) Reopen(ctxs ...uint16) {
	s.e.AsPoller(func() {
		for _, ctx := range ctxs {
			delete(s.retired, ctx)
			if s.doubtedError(ctx) != nil {
				s.setRefusal(ctx, nil)
			}
		}
		s.unrevoke(ctxs)
	})
}

// endIn ends receives, probes and calls of the layer above in contexts, and counts them.
func (s *Server) endIn(ctxs []uint16, w *fult.Worker) (n int) {
	err := fmt.Errorf("%w: the communicator has been freed", ErrCancelled)
	s.registry.EndWhere(func(p *pending.Op) error {
		if p.Kind == pending.Move || p.Kind == pending.Send || p.Parts || !slices.Contains(ctxs, p.Context) {
			return nil
		}
		n++
		return err
	}, w)
	return n
}

// dropMessages drops those of the messages that have not been received meanwhile.
func (s *Server) dropMessages(messages []waiting) (n int) {
	for _, x := range messages {
		m := s.matching.takeMessage(x.ctx, x.asked)
		if m == nil {
			continue
		}
		if m.role == roleRTS {
			s.e.PostUrgent(int(m.peer), handlerRetracted, m.id, 1)
		}
		s.freeMessage(m, -1)
		n++
	}
	return n
}
