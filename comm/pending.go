package comm

import (
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/observe/pending"
)

// waiting is a posted receive as it was found: o may be another one by now, so what names it is kept here.
type waiting struct {
	o     *op
	ctx   uint16
	asked match.Pattern
}

// operations are those of a server, as the registry of the rank sees them: what is in the matching, what has a number,
// and probes.
type operations struct{ s *Server }

// Each implements pending.Source. Very many operations may wait: it allocates nothing for each of them.
func (x operations) Each(show func(*pending.Op)) {
	s := x.s
	var p pending.Op
	s.matching.eachWaiting(func(ctx uint16, side hashtable.Side, m match.Pattern, o *op) {
		p = o.describeWait(ctx, side, m)
		show(&p)
	})
	s.ids.Each(func(_ uint64, o *op) {
		if !o.word.Left() { // else its caller has gone on without it
			p = o.describeNumbered()
			show(&p)
		}
	})
	s.eachProbe(show)
}

// describeWait tells of o, which waits under m.
func (o *op) describeWait(ctx uint16, side hashtable.Side, m match.Pattern) pending.Op {
	p := pending.Op{Context: ctx, Peer: int(m.Source), Tag: int(m.Tag), Bytes: o.size}
	switch {
	case side == hashtable.Post:
		p.Kind, p.Form, p.Bytes, p.Thread = pending.Recv, uint8(o.form), o.bufferRoom(), o.done.Expected()
	case o.role == roleRTS:
		p.Kind = pending.Envelope
	default:
		p.Kind = pending.Message
	}
	return p
}

// describeNumbered tells of o, which has a number.
func (o *op) describeNumbered() pending.Op {
	p := o.identifyOp()
	p.Bytes, p.Thread = o.size, o.done.Expected()
	return p
}

// identifyOp is as much of describeNumbered as decides about the end of o.
func (o *op) identifyOp() pending.Op {
	p := pending.Op{Kind: pending.Send, Form: uint8(o.form), Context: o.ctx, Peer: int(o.peer), Tag: int(o.tag)}
	switch {
	case o.role == roleSend:
		p.Sync = o.send.sync
	case o.role == roleRecv && o.hasSentRTR():
		p.Kind = pending.Recv
	case o.role == roleRecv:
		p.Kind = pending.Move
	}
	return p
}

// EndWhere implements pending.Source. The poller calls it, or its stand-in: a handler may have an op in hand.
func (x operations) EndWhere(why func(*pending.Op) error, w *fult.Worker) {
	s := x.s
	s.endPosts(why, w)
	s.endNumbered(why, w)
	s.endProbes(why, w)
}

// endPosts ends receives that have not been matched.
func (s *Server) endPosts(why func(*pending.Op) error, w *fult.Worker) {
	type ended struct {
		waiting
		err error
	}
	var mine []ended
	s.matching.eachWaiting(func(ctx uint16, side hashtable.Side, m match.Pattern, o *op) {
		if side != hashtable.Post {
			return
		}
		p := pending.Op{Kind: pending.Recv, Context: ctx, Peer: int(m.Source), Tag: int(m.Tag)}
		if err := why(&p); err != nil {
			mine = append(mine, ended{waiting{o, ctx, m}, err})
		}
	})
	for _, x := range mine {
		if s.matching.withdrawReceive(x.ctx, x.asked, x.o) {
			x.o.endWith(x.err)
			x.o.done.Complete(w)
		}
	}
}

// hookSearched, set by tests, runs when all that has a number has been looked through.
var hookSearched func()

// endNumbered ends sends, and receives whose message is still to come or on its way.
func (s *Server) endNumbered(why func(*pending.Op) error, w *fult.Worker) {
	type ended struct {
		id  uint64
		err error
	}
	var mine []ended
	s.ids.Each(func(id uint64, o *op) {
		p := o.identifyOp()
		if err := why(&p); err != nil {
			mine = append(mine, ended{id, err})
		}
	})
	if hookSearched != nil {
		hookSearched()
	}
	for _, x := range mine {
		s.failNumber(x.id, x.err, w)
	}
}
