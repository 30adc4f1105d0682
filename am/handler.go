package am

import "github.com/golci/golci/fult"

// Handler runs when a request or reply arrives. It runs on whatever thread or goroutine polls, inside the poll: it must
// not block, must not call a blocking operation, and must not keep args or payload, which lie in the receive space.
// It may reply once, through tok, if the spec it was registered with allows it.
type Handler func(tok *Token, args []uint64, payload []byte)

// Spec tells what a handler index stands for. All ranks must register the same specs, as in GASNet.
type Spec struct {
	Name string
	Run  Handler
	// MaxReply is the largest payload in bytes of the handler's reply; room for that reply is reserved when the
	// request is sent. NoReply (-1) if it never replies; 0 for a Short reply.
	MaxReply int
	Ordered  bool // requests carry a number of their pair's sequence, see Token.Seq
}

const NoReply = -1 // as Spec.MaxReply: the handler never replies

// Handler indices from FirstInternal on are golci's own.
const (
	FirstInternal = 224
	lastHandler   = 255
)

// Token stands for the message that a handler serves; it is valid until the handler returns.
type Token struct {
	e        *Endpoint
	w        *fult.Worker
	src      int
	seq      uint16
	answer   bool // the requester reserved room for a reply
	reply    bool // this is a reply itself
	replied  bool
	maxReply int // of the request's handler
}

// Source is the rank that sent the message.
func (t *Token) Source() int { return t.src }

// Seq is the message's number in its pair's sequence of ordered requests; it starts at 0 and wraps.
func (t *Token) Seq() uint16 { return t.seq }

// Worker is the fult worker that polls, or nil: hand it on when signalling threads.
func (t *Token) Worker() *fult.Worker { return t.w }
