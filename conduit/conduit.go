// Package conduit defines what carries records between ranks: the interface of transports.
//
// A conduit delivers each committed record exactly once to the rank it was committed for, or reports that rank as
// failed. It knows nothing of credits, handlers or tags. Records of one pair arrive in the order of their commits where
// Caps says so. Beside the records a conduit may have a bulk channel, a pipeline of large chunks per pair.
package conduit

import (
	"fmt"
	"sync/atomic"
	"time"
)

// Status is the outcome of a hot call.
type Status uint8

const (
	OK    Status = iota // the call was done
	Retry               // no room now; the call had no effect, and may be repeated after the peer has polled
	// Dead means that nothing can be sent to that peer any more, or that the request can never be served (a record
	// larger than Caps.MaxRecord, a peer outside the job); Failed tells why.
	Dead
)

// String names the status.
func (s Status) String() string { return nameOf("Status", uint8(s), "ok", "retry", "dead") }

func nameOf(kind string, v uint8, names ...string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, v)
}

// Class says from which part of a peer's receive space a record is taken.
type Class uint8

const (
	Request Class = iota // takes the space that the peer has lent, without what is kept for the others
	Reply                // may also take what is kept
	System               // credit traffic and notices; may also take what is kept
)

// String names the class.
func (c Class) String() string { return nameOf("Class", uint8(c), "request", "reply", "system") }

const CreditBytes = 256 // of receive space, for which one credit stands

// WordBytes is the length of a record's first word. Its low 32 bits hold the record's length in bytes, the word itself
// included; the high 32 bits belong to the caller.
const WordBytes = 8

// Caps are the fixed properties of a conduit.
type Caps struct {
	Name      string // for messages and reports
	MaxRecord int    // the longest in bytes, first word included
	// Loan is the number of credits of CreditBytes for which each peer has room at this rank. Requests of at most so
	// many credits, a record taking at least one and rounded up, are never refused for want of room.
	Loan      int
	Ordered   bool // the records of one pair are delivered in the order of their commits
	BulkChunk int  // the longest chunk of the bulk channel in bytes, 0 if there is none
	BulkSlots int  // chunks that may be on their way to one peer
}

// Conduit is one rank's end. Unless said otherwise any goroutine may call its methods. They do not block, do not
// allocate and do not switch threads.
type Conduit interface {
	// Rank is the number of this rank, 0 to Size-1.
	Rank() int
	// Size is the number of ranks of the job.
	Size() int
	// Caps are the conduit's properties; they never change.
	Caps() Caps

	// Reserve returns space for a record of n bytes, 8 up to Caps.MaxRecord, to peer, which may be this rank. The
	// space is 8-byte aligned, n bytes rounded up to a multiple of 8 long, and holds whatever was there before. The
	// caller fills all of it that the record uses except the first 8 bytes and calls Commit. From Reserve to Commit
	// the caller keeps every other Reserve for the same peer out, with a lock of its own. A record that is not wanted
	// after all needs no call: the next Reserve for the same peer takes its place.
	Reserve(peer int, class Class, n int) ([]byte, Status)
	// Commit publishes the record that the last Reserve, which returned OK, reserved for peer. first becomes its
	// first word: the low 32 bits are the record's length in bytes, at least 8 and at most what was reserved. Commit
	// without Reserve does nothing.
	Commit(peer int, first uint64)

	// Poll delivers up to budget records and bulk chunks to sink, which sees them in place, and returns their number.
	// Peers take turns. The caller sees to it that one goroutine polls at a time, and that no sink polls again. Other
	// methods go on beside it. It also tells the sink of peers that have failed, see Sink.Gone; that does not count.
	Poll(budget int, sink Sink) int

	// BulkSend sends as many leading bytes of data as there is room for now through the bulk channel to peer, and
	// returns how many: 0 when there is no room, -1 when the peer is dead. They arrive through Sink.Bulk with the
	// given id, in chunks of Caps.BulkChunk, the first at offset off and each following one at the offset where the
	// one before it ended; without Caps.Ordered in disjoint pieces of any size, in any order. The caller keeps other
	// BulkSend calls for the same peer out; Reserve and Commit may go on beside it.
	//
	// The bytes are copied, and the caller may change them at once, unless kept is true. Only a call with a keep that
	// is not nil can give that: the conduit then sends the n bytes from where they lie, and they must not change
	// until keep is told of them. That may happen before BulkSend returns.
	BulkSend(peer int, id uint64, off int64, data []byte, keep Completion) (n int, kept bool)
	// BulkReserve returns space in the bulk channel for a chunk to peer, up to n bytes long, whose bytes are not at
	// hand in one piece. Retry means that all slots are full or that n is 0. The caller fills the space and calls
	// BulkCommit. From the one to the other it keeps other BulkSend and BulkReserve calls for the same peer out. A
	// chunk that is not wanted after all needs no call.
	BulkReserve(peer, n int) ([]byte, Status)
	// BulkCommit sends the chunk that the last BulkReserve, which returned OK, reserved for peer, as BulkSend does. It
	// has n bytes, at least 1 and at most what was reserved. BulkCommit without BulkReserve does nothing.
	BulkCommit(peer int, id uint64, off int64, n int)

	// Mine is the word that this rank writes for peer to read. Theirs is the word that peer writes for this rank. Both
	// are cumulative counters that travel without a message, and nil if the conduit has no such words. A
	// counter stored to Mine is seen no earlier than the records committed before it are; storing to it wakes nobody.
	Mine(peer int) *atomic.Uint64
	// Theirs is described at Mine.
	Theirs(peer int) *atomic.Uint64

	// Pending tells whether Poll would find something, a peer that has failed included. It is cheap enough for a
	// spinning loop. It may say true wrongly, while another goroutine polls or a sender has given a place up.
	Pending() bool
	// Sleep blocks the calling goroutine, and its OS thread where the conduit waits in the kernel. It returns true when
	// a record or chunk is there, Wake is called, a peer fails, or d has passed; it may return early. If ready or
	// Pending reports true, it returns at once. A Sleep that returns true calls ready exactly once, unless ready is
	// nil. It does so after the wake-up is armed, also where Pending is true or d is not positive. Sleep returns false
	// at once, without a call of ready, when another goroutine already sleeps here or the conduit is closed.
	Sleep(d time.Duration, ready func() bool) bool
	// Wake ends a Sleep of this rank. The sleeper's ready sees what the caller stored before.
	Wake()

	// Failed returns nil while peer can be reached, otherwise an error that names the peer and matches ErrPeerDied,
	// ErrPeerClosed, ErrCorrupt, ErrOverflow, ErrUnreachable or ErrClosed. What such a peer committed before is still
	// delivered; Sink.Gone tells when all of it has been.
	Failed(peer int) error
	// Close ends this rank's part: peers see ErrPeerClosed, a sleeper wakes, later calls find all peers dead and
	// nothing to poll. It waits for a Poll that is under way, so a Sink must not call it. A second Close does nothing.
	Close() error
}

// Sink takes what Poll finds. Its methods run on the polling goroutine, must not panic, and should be short; the
// slices are the receive space itself and valid only during the call.
type Sink interface {
	// Record is given a record of src: first word included, cut to the length that the word tells.
	Record(src int, rec []byte)
	// Bulk is given a chunk that src sent under id, with its offset.
	Bulk(src int, id uint64, off int64, chunk []byte)
	// Gone tells that peer has failed for the reason err of Failed, and that all it had sent has been delivered. It is
	// called once for a peer. A rank that closes its own conduit is told of nobody.
	Gone(peer int, err error)
}

// Config sizes a conduit. The zero value of a field means its default.
type Config struct {
	Loan       int // credits of CreditBytes that each peer has at a rank; default 200
	MaxRecord  int // the longest in bytes; default 8192+256, largest 16 MiB
	ReplySpace int // bytes of each peer's receive space kept for replies; default the loan, at least MaxRecord
	BulkChunk  int // bytes of a bulk chunk, default 32 KiB, over udp 256 KiB; negative for no bulk channel
	BulkSlots  int // chunks on their way to one peer; default 8
	// TinyQueues admits two small records, or one large one, at a time to a peer, one more for the reserved classes,
	// and two bulk chunks. It forces back-pressure, for tests. Caps.Loan is then 0: nothing is guaranteed.
	TinyQueues bool
	// ScanLimit is the number of ranks on a node up to which a poller looks at every ring itself; with more, senders
	// mark their ring in a bit-vector. Default 8; negative for always the bit-vector.
	ScanLimit int
}
