// Package credit is the ledger of receive space: it decides how much each rank may send to each other without asking.
//
// A credit stands for 256 bytes of a rank's receive space. A rank lends credits to each peer. A request spends the
// credits its record takes; they return when the receiver has copied the record out. Credits that are not lent are in
// the rank's bank. Loans grow out of the bank where a sender stalls. When the bank has run out, idle loans shrink. The
// design is that of the GASNet Portals conduit; docs/design/credits.md describes the mechanism and the differences.
//
// The state of a pair is split by owner. A Borrower for each peer belongs to the holder of the pair's send lock. The
// Ledger, with a Lender for each peer, belongs to the poller. The types do no IO, take no lock and start nothing. They
// return the Messages to send, and are given the messages of peers. All counts on records are cumulative and wrap, so a
// record may be repeated or lost without harm.
package credit

// Unit is the number of bytes of receive space that one credit stands for.
const Unit = 256

// MaxCost is the largest cost of one record, of 128 KiB.
const MaxCost = 512

// Long in the place of a record's cost stands for itself and all costs above: the wire has eight bits. The record's
// length tells the cost then.
const Long = 255

// maxNeed is the most credits that one record can ask for: the wire has seven bits for it.
const maxNeed = 127

// Cost is the number of credits that a record of the given length in bytes takes, at least one.
func Cost(bytes int) int {
	return max(1, (bytes+Unit-1)/Unit)
}

// Fields are the 16 bits that every record carries for the ledger: E (1), need (7), cost (8), from the top.
type Fields uint16

const epochBit = 1 << 15

// Cost is the number of credits that the record takes, up to Long.
func (f Fields) Cost() int { return int(uint8(f)) }

// Need is the number of credits that its sender was short of.
func (f Fields) Need() int { return int(f >> 8 & maxNeed) }

// Epoch reports that an epoch of the sender has ended: see Borrower.Epochs.
func (f Fields) Epoch() bool { return f&epochBit != 0 }

// Message is a message for the system queue of a peer. The carrier must deliver it exactly once, in any order with
// respect to everything else. There is never more than one Revoke on its way to a peer, but for a repetition long after
// one that was not answered.
type Message struct {
	Peer int // whom to send it to
	Kind Kind
	Args Args
}

// Args are the arguments of a system message; their meaning depends on the Kind.
type Args [3]int32

// Kind of a system message. Args[1] of each is the number of epochs of the sender that the receiver has not been told
// of: Borrower.Stamp writes it, Borrower.Epochs reads it.
type Kind uint8

// Kinds of system messages.
const (
	// Revoke asks a borrower to give credits back. Args[0]: what the cumulative count of credits given back should
	// become (16 bits, wraps). Borrower.Revoke answers it with a Return.
	Revoke Kind = iota + 1
	// Return gives them back. Args[0]: the cumulative count of credits given back (16 bits, wraps). Ledger.Returned.
	Return
	// Ask wants a larger loan before it is needed. Args[0]: the size of the loan wanted. Ledger.Asked.
	Ask
)
