package barrier

import "github.com/golci/golci/realm/internal/event"

// Kind is what a message says.
type Kind uint8

// Kinds of message. The first ones go to the owner, and are passed on until they reach it.
const (
	Arrival      Kind = 1 + iota // Count arrivals at Phase, with the values in Value; maybe a subscription, too
	Alteration                   // Phase expects Count arrivals more
	Subscription                 // From wants to know when Phase triggers
	Request                      // From wants Owner to become the owner
	Fault                        // the barrier is to fail with Poison
	End                          // the barrier is to be destroyed
	Trigger                      // Phase has triggered, maybe with Poison
	Refusal                      // nothing can be said of Phase; Poison says why
	Failure                      // all phases after Phase are poisoned
	Moved                        // Owner is the owner
	State                        // a part of what the next owner, To, must know
	lastKind     = State
)

// Message is what one rank tells another. Which fields count depends on the kind.
type Message struct {
	Kind   Kind
	Flags  Flags
	To     int32
	From   int32  // the rank whose user has called; it stays when the message is passed on
	Owner  int32  // as far as From knows
	Giver  int32  // the owner before that one
	Epoch  uint64 // number of that ownership
	Phase  uint64
	Count  int64  // of arrivals; of State, the number of parts
	Stamp  Stamp  // the last alteration that the handle of an Arrival or Alteration knows of
	Own    uint64 // number of an Alteration; of an Arrival, the last alteration of From; of State, the part
	Bad    uint64 // last poisoned phase that is not after Phase; of a Refusal, the last that has triggered
	Poison *event.Poison
	Value  []byte   // of an Arrival, one value or more
	Ranks  []uint16 // of a Trigger: whom else To is to tell
}

// Flags are details of a message.
type Flags uint8

// Flags.
const (
	subscribes Flags = 1 << iota // Arrival: From subscribes to Phase, too
	orphaned                     // Failure: there is no owner any more that could tell of earlier phases
	gone                         // Trigger: the value is not known any more
	destroyed                    // Failure: To may forget the barrier
	allFlags   = subscribes | orphaned | gone | destroyed
)

// Limits of a message.
const (
	maxValue  = 1024 // bytes of one value
	maxValues = 2048 // bytes of the values of one message, and of a part of a state
	maxShare  = 600  // ranks that one message names
)

// Out is what a caller must do after it has given up its lock. Calls add to it.
type Out struct {
	Fire     event.List // waiters whose phase is over, with their poison
	Messages []Message
	Dirty    bool // Flush is to be called soon
}

func (o *Out) sendMessage(m Message) { o.Messages = append(o.Messages, m) }
