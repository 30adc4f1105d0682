package comm

import (
	"fmt"
	"io"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/hashtable"
	"github.com/golci/golci/internal/match"
)

// waiting is a posted receive as it was found: o may be another one by now, so what names it is kept here.
type waiting struct {
	o     *op
	ctx   uint16
	asked match.Pattern
}

// posted collects the receives that wait, of all contexts.
func (s *Server) posted() (out []waiting) {
	s.matching.each(func(ctx uint16, side hashtable.Side, p match.Pattern, o *op) {
		if side == hashtable.Post {
			out = append(out, waiting{o, ctx, p})
		}
	})
	return out
}

// PendingKind says what waits.
type PendingKind uint8

const (
	PendingRecv     PendingKind = iota // a receive without a message
	PendingMove                        // a receive whose message is on its way
	PendingSend                        // a send that its receiver has not taken
	PendingMessage                     // a message without a receive
	PendingEnvelope                    // the envelope of a message without a receive; its bytes are at the sender
)

// Pending is one operation or message that waits.
type Pending struct {
	Kind    PendingKind
	Context uint16
	Peer    int // a rank or AnySource
	Tag     int // or AnyTag
	Bytes   int64
	Thread  *fult.Thread // whose blocking call it is, nil for other calls
}

// Unexpected says that p is a message of another rank, and not an operation of this one.
func (p Pending) Unexpected() bool { return p.Kind >= PendingMessage }

// String gives p in one line.
func (p Pending) String() string {
	what := [...]string{"receive", "receive under way", "send", "unexpected message", "unexpected envelope"}[p.Kind]
	return fmt.Sprintf("%s: context %d, peer %s, tag %s, %d bytes", what, p.Context, orAny(p.Peer), orAny(p.Tag), p.Bytes)
}

func orAny(n int) string {
	if n < 0 {
		return "any"
	}
	return fmt.Sprint(n)
}

// Pending lists what waits, as far as it can be seen without stopping anybody.
func (s *Server) Pending() (out []Pending) {
	if threads := s.eng.Scheduler(); threads != nil { // very many wait in very many threads: to grow takes longest
		out = make([]Pending, 0, threads.Live())
	}
	s.matching.each(func(ctx uint16, side hashtable.Side, m match.Pattern, o *op) {
		out = append(out, o.waits(ctx, side, m))
	})
	s.ids.Each(func(_ uint64, o *op) {
		if o.word.Left() { // its caller has gone on without it
			return
		}
		kind := PendingSend
		switch {
		case o.role == roleRecv && o.isInvited():
			kind = PendingRecv
		case o.role == roleRecv:
			kind = PendingMove
		}
		out = append(out, Pending{kind, o.ctx, int(o.peer), int(o.tag), o.size, o.done.Expected()})
	})
	return out
}

// waits describes o, which waits under m.
func (o *op) waits(ctx uint16, side hashtable.Side, m match.Pattern) Pending {
	p := Pending{Context: ctx, Peer: int(m.Source), Tag: int(m.Tag), Bytes: o.size}
	switch {
	case side == hashtable.Post:
		p.Kind, p.Bytes, p.Thread = PendingRecv, o.room(), o.done.Expected()
	case o.role == roleRTS:
		p.Kind = PendingEnvelope
	default:
		p.Kind = PendingMessage
	}
	return p
}

// Probes is how many calls wait for a message that they do not receive.
func (s *Server) Probes() int { return int(s.probers.Load()) }

// Dump writes what waits, at most limit lines if limit > 0.
func (s *Server) Dump(w io.Writer, limit int) {
	list := s.Pending()
	fmt.Fprintf(w, "rank %d of %d: %d pending\n", s.rank, s.size, len(list))
	for i, p := range list {
		if limit > 0 && i == limit {
			fmt.Fprintf(w, "  and %d more\n", len(list)-limit)
			return
		}
		fmt.Fprintf(w, "  %s\n", p)
	}
}
