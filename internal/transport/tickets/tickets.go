// Package tickets bounds what a rank has under way, as the send tickets and the send buffers of the GASNet Portals
// conduit did. A record holds a ticket, and a chunk for each KiB, from its reservation until its peer has served it.
//
// Requests leave some tickets alone, so that a rank whose requests nobody takes can still answer, and two floods
// against each other cannot stop each other.
package tickets

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/conduit"
)

// Limits are what a rank may have under way. Where all of them are zero there is no limit but the credits.
type Limits struct {
	// Messages is how many records, Requests and Replies are how many KiB of each; zero: as many as can be counted.
	Messages, Requests, Replies int
}

// Without are the limits that the Portals conduit had. They serve where no credits bound what is under way.
var Without = Limits{Messages: 250, Requests: 2048, Replies: 256}

const (
	// MinMessages and MaxMessages bound Limits.Messages, MaxChunks the others.
	MinMessages = 12
	MaxMessages = 1<<15 - 1
	MaxChunks   = 1<<22 - 1

	chunkBytes = 1024
	// forAnswers is how many tickets requests leave alone: what serving one request may take.
	forAnswers = 2
)

// Check returns an error that matches conduit.ErrConfig if l cannot work.
func (l *Limits) Check() error {
	for _, f := range []struct {
		name     string
		v, lo, n int
	}{
		{"Messages", l.Messages, MinMessages, MaxMessages}, {"Requests", l.Requests, 1, MaxChunks}, {"Replies", l.Replies, 1, MaxChunks},
	} {
		if f.v != 0 && (f.v < f.lo || f.v > f.n) {
			return fmt.Errorf("%w: limit on %s under way is %d, want %d to %d", conduit.ErrConfig, f.name, f.v, f.lo, f.n)
		}
	}
	return nil
}

// Tiny are limits that admit a few records at a time, of up to maxRecord bytes, for tests.
func Tiny(maxRecord int) Limits {
	longest := (maxRecord + chunkBytes - 1) / chunkBytes
	return Limits{Messages: forAnswers + 2, Requests: 2 * longest, Replies: longest}
}

// Cost is what a record holds: tickets in bits 0 to 15, chunks of requests in 16 to 39, chunks of replies in 40 to
// 63. Costs add up as plain integers. A running sum may carry from one part into the next. The difference of two sums is exact as long as what it
// stands for fits. That is bounded by what a rank has.
type Cost uint64

const (
	ticket       Cost = 1
	requestChunk Cost = 1 << 16
	replyChunk   Cost = 1 << 40
)

func (c Cost) tickets() int  { return int(c & (1<<16 - 1)) }
func (c Cost) requests() int { return int(c >> 16 & (1<<24 - 1)) }
func (c Cost) replies() int  { return int(c >> 40) }

// Of is the cost of a record of n bytes. System records cost no chunk.
func Of(class conduit.Class, n int) Cost {
	chunks := Cost((n + chunkBytes - 1) / chunkBytes)
	switch class {
	case conduit.Request:
		return ticket + chunks*requestChunk
	case conduit.Reply:
		return ticket + chunks*replyChunk
	}
	return ticket
}

// SendWindow is what a rank has left. Its methods may be called from any goroutine and do not block.
type SendWindow struct {
	free atomic.Uint64 // a Cost
	_    [120]byte     // senders write free; cores fetch lines in pairs

	noTicket, noChunk, unanswerable atomic.Uint64
}

// New is the send window of a rank that sends records of up to maxRecord bytes; nil, without limits. One longest record
// of each kind always fits.
func New(l Limits, maxRecord int) *SendWindow {
	if l == (Limits{}) {
		return nil
	}
	limit := func(n, least, most int) Cost {
		if n == 0 {
			return Cost(most)
		}
		return Cost(max(n, least))
	}
	longest := (maxRecord + chunkBytes - 1) / chunkBytes
	p := new(SendWindow)
	p.Give(limit(l.Messages, 0, MaxMessages)*ticket + limit(l.Requests, longest, MaxChunks)*requestChunk +
		limit(l.Replies, longest, MaxChunks)*replyChunk)
	return p
}

// Take takes the cost of a record of a class, or nothing.
func (p *SendWindow) Take(class conduit.Class, c Cost) bool {
	keep := 0
	if class == conduit.Request {
		keep = forAnswers
	}
	for {
		f := p.free.Load()
		have := Cost(f)
		switch {
		case have.tickets() < c.tickets()+keep:
			p.noTicket.Add(1)
			return false
		case have.requests() < c.requests() || have.replies() < c.replies():
			p.noChunk.Add(1)
			return false
		case p.free.CompareAndSwap(f, f-uint64(c)):
			return true
		}
	}
}

// Give gives back what records of that cost have held.
func (p *SendWindow) Give(c Cost) {
	if c != 0 {
		p.free.Add(uint64(c))
	}
}

// MayServe is the gate before a request: its handler may reply, and must then find two tickets and a chunk. Without a
// send window it is open.
func (p *SendWindow) MayServe() bool {
	if p == nil {
		return true
	}
	have := Cost(p.free.Load())
	if have.tickets() >= forAnswers && have.replies() > 0 {
		return true
	}
	p.unanswerable.Add(1)
	return false
}

// Scarce tells whether so much of what there is by l is in debt that whoever waits for it should hear of it at once.
func (l *Limits) Scarce(debt Cost) bool {
	over := func(n, limit int) bool { return limit > 0 && n > limit/4 }
	return over(debt.tickets(), l.Messages) || over(debt.requests(), l.Requests) || over(debt.replies(), l.Replies)
}

// Stats are counters since the start.
type Stats struct {
	// Messages are the tickets left.
	Messages int
	// NoTicket and NoChunk are refusals to send for want of one.
	NoTicket, NoChunk uint64
	// Unanswerable is how often a request had to wait because its answer could not have been sent.
	Unanswerable uint64
}

// Stats returns the counters; zero without a send window.
func (p *SendWindow) Stats() Stats {
	if p == nil {
		return Stats{}
	}
	return Stats{
		Messages: Cost(p.free.Load()).tickets(), NoTicket: p.noTicket.Load(), NoChunk: p.noChunk.Load(), Unanswerable: p.unanswerable.Load(),
	}
}
