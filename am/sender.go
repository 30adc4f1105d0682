package am

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/transport/credit"
)

// sender is the sending side towards one peer. All fields but the atomics and looks are owned by the holder of mu.
type sender struct {
	mu        spin.Biased
	credit    credit.Borrower
	seq       uint16
	short     uint16 // cost of the last request that found too few credits
	slowPath  bool   // listed, throttled or dead: Open takes the slow way
	hasQueued bool   // something is queued
	waits     bool   // in Endpoint.stalled
	dead      bool
	throttle  bool  // as last read from the peer
	returning bool  // urgent holds a return of credits
	looks     uint8 // at starvedAt; owned by the holder of Endpoint.stalled.pumping
	words     bool  // the conduit carries credit words towards this peer, and so the other way; fixed

	// starvedAt is 0, or the digest of theirs when the request that is first has found too few credits. The holder of mu
	// writes it.
	starvedAt   atomic.Uint32
	replies     int32  // bytes of reply space that requests in flight have reserved
	normal      queue  // requests that wait for credits
	urgent      queue  // replies and returns that wait for room
	urgentQueue queue  // urgent requests that wait for room, or for that of their replies
	counted     Queued // the queued request that was counted as stalled

	// theirs is what the peer returns to us, mine what we return to it: with words the conduit's, and notes of 64 bits;
	// else words of our own, and notes of 32 bits, that travel in the records. Bit 63: throttle.
	theirs, mine *atomic.Uint64
	own          [2]atomic.Uint64

	bulk bulkQueue
}

// digestOf is of a credit word, and not 0. Two words one after the other seldom have the same.
func digestOf(word uint64) uint32 { return uint32(word) ^ uint32(word>>32) | 1<<31 }

const wordThrottle = 1 << 63

const manyRanks = 128 // from so many on a pair takes memory at its first use only

func (e *Endpoint) initSenders() error {
	n := e.c.Size()
	e.senders, e.gone = make([]atomic.Pointer[sender], n), make([]atomic.Uint64, (n+63)/64)
	if _, err := credit.Borrow(&e.terms); err != nil {
		return err
	}
	if e.words || n < manyRanks {
		for i, all := 0, make([]sender, n); i < n; i++ {
			e.initSender(&all[i], i)
			e.senders[i].Store(&all[i])
		}
	}
	return nil
}

func (e *Endpoint) initSender(ln *sender, peer int) {
	ln.mine, ln.theirs = e.c.Mine(peer), e.c.Theirs(peer)
	if ln.words = ln.mine != nil; !ln.words {
		ln.mine, ln.theirs = &ln.own[0], &ln.own[1]
	}
	t := e.terms
	if e.isNear(ln) && t.Mode == credit.Dynamic {
		t.Mode = credit.Fixed
	}
	ln.credit, _ = credit.Borrow(&t) // the terms are in order
}

// senderOf is the pair with a peer. In a large job it is made when it is first used.
func (e *Endpoint) senderOf(peer int) *sender {
	if ln := e.senders[peer].Load(); ln != nil {
		return ln
	}
	return e.newSender(peer)
}

func (e *Endpoint) newSender(peer int) *sender {
	ln := new(sender)
	e.initSender(ln, peer)
	if e.senders[peer].CompareAndSwap(nil, ln) {
		return ln
	}
	return e.senders[peer].Load()
}

// isNear tells that a peer is reached through a ring while others are not. Its credits cannot be lent to those.
func (e *Endpoint) isNear(ln *sender) bool { return ln.words && !e.words }

// allWords tells whether c carries credit words towards every peer. Both ends of a pair say the same.
func allWords(c conduit.Conduit) bool {
	for peer := range c.Size() {
		if c.Mine(peer) == nil {
			return false
		}
	}
	return true
}

// Ring tells whether a ring in memory joins this rank and peer. Both see it alike.
func (e *Endpoint) Ring(peer int) bool { return e.senderOf(peer).words }

// Outcome of an attempt to send.
type Outcome uint8

// Outcomes of Open.
const (
	Opened  Outcome = iota
	Stalled         // no credits, no room, others are queued before, or the peer throttles: Enqueue or Abandon
	Failed          // the peer is dead
)

// Open begins a request record of nargs arguments and payload bytes to peer, for the handler's index h. If it says
// Opened, body is to be filled (arguments, then payload) and Commit called with first, soon and without blocking: the
// pair is locked until then. If it says Stalled the pair is locked too, and the caller must call Enqueue or Abandon;
// nothing has been spent. If Failed, it is not locked.
func (e *Endpoint) Open(peer int, h uint8, nargs, payload int) (body []byte, first uint64, o Outcome) {
	ln := e.senders[peer].Load()
	if ln == nil { // as in senderOf, which the compiler does not inline
		ln = e.newSender(peer)
	}
	ln.mu.Lock()
	if !ln.slowPath {
		if body, first, o = e.openSender(ln, peer, h, 0, nargs, payload); o != Failed {
			return body, first, o
		}
	}
	return e.openWithCare(ln, peer, h, nargs, payload)
}

func (e *Endpoint) openWithCare(ln *sender, peer int, h uint8, nargs, payload int) ([]byte, uint64, Outcome) {
	if ln.dead {
		ln.mu.Unlock()
		return nil, 0, Failed
	}
	if ln.hasQueued {
		return nil, 0, Stalled
	}
	if e.refreshCredits(ln, peer); ln.throttle && e.specs[h].Ordered {
		return nil, 0, Stalled
	}
	body, first, o := e.openSender(ln, peer, h, 0, nargs, payload)
	if o == Failed {
		ln.mu.Unlock()
	}
	return body, first, o
}

// OpenQueued is Open for use inside Queued.Emit, where the pair is locked already and the queue does not count.
func (e *Endpoint) OpenQueued(peer int, h uint8, nargs, payload int) (body []byte, first uint64, o Outcome) {
	return e.openSender(e.senderOf(peer), peer, h, 0, nargs, payload)
}

func (e *Endpoint) openSender(ln *sender, peer int, h, flags uint8, nargs, payload int) ([]byte, uint64, Outcome) {
	n := headerBytes + nargs*argBytes + payload
	cost := (n + credit.Unit - 1) / credit.Unit
	spec := &e.specs[h]
	if spec.MaxReply != NoReply {
		if ln.replies > 0 && int(ln.replies)+replyBytes(spec.MaxReply) > e.cfg.ReplySpace {
			return nil, 0, Stalled
		}
		flags |= flagAnswer
	}
	if !ln.credit.Take(cost) && !e.takeSlow(ln, peer, cost) {
		ln.short = uint16(cost)
		return nil, 0, Stalled
	}
	rec, st := e.c.Reserve(peer, conduit.Request, n)
	if st != conduit.OK {
		return e.openRefused(ln, cost, st)
	}
	w1 := word1(ln.credit.WireNeed(cost), ln.seq, 0)
	if spec.Ordered {
		flags |= flagOrdered
		ln.seq++
	}
	if flags&flagAnswer != 0 {
		ln.replies += int32(replyBytes(spec.MaxReply))
	}
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	_ = rec[15]
	binary.LittleEndian.PutUint64(rec[8:], w1)
	if payload > 0 {
		flags |= flagMedium
	}
	return rec[headerBytes:n], word0(n, h, flags, nargs), Opened
}

func (e *Endpoint) openRefused(ln *sender, cost int, st conduit.Status) ([]byte, uint64, Outcome) {
	ln.credit.Undo(cost)
	if st == conduit.Dead {
		ln.dead, ln.slowPath = true, true
		return nil, 0, Failed
	}
	return nil, 0, Stalled
}

// piggyback puts the note of credits, and the end of an epoch, on a record to a peer without a word for them.
func (e *Endpoint) piggyback(ln *sender, w1 uint64, flags uint8) (uint64, uint8) {
	w := ln.mine.Load()
	if w&wordThrottle != 0 {
		flags |= flagThrottle
	}
	f := ln.credit.Wire(int(uint8(w1)), e.recv.ledger.Epoch())
	return w1 | uint64(f) | uint64(uint32(w))<<32, flags
}

// CopyOut copies payload into the body of the record that Open or OpenQueued has begun, as copy does. It does so in the
// way that is quick for the conduit and what goes through it.
func (e *Endpoint) CopyOut(peer int, body, payload []byte) int {
	if len(payload) >= arch.LongCopy && e.streamer != nil && e.streamer.Streams(peer, len(payload)) {
		return arch.CopyOut(body, payload)
	}
	return copy(body, payload)
}

// Commit publishes the record begun by Open and unlocks the pair.
func (e *Endpoint) Commit(peer int, first uint64) {
	e.c.Commit(peer, first)
	e.senders[peer].Load().mu.Unlock() // Open has made it
}

// CommitQueued is Commit for use inside Queued.Emit: the pair stays locked.
func (e *Endpoint) CommitQueued(peer int, first uint64) { e.c.Commit(peer, first) }

// Abandon unlocks the pair after Open said Stalled.
func (e *Endpoint) Abandon(peer int) { e.senders[peer].Load().mu.Unlock() }

// takeSlow looks for returned credits and tries again.
func (e *Endpoint) takeSlow(ln *sender, peer, cost int) bool {
	w := e.refreshCredits(ln, peer)
	if ln.credit.Take(cost) {
		return true
	}
	ln.starvedAt.Store(digestOf(w))
	return false
}

// refreshCredits takes in what the peer has returned, and gives the word that says so. The pair is locked.
func (e *Endpoint) refreshCredits(ln *sender, peer int) uint64 {
	w := ln.theirs.Load()
	ln.throttle = w&wordThrottle != 0
	ln.slowPath = ln.hasQueued || ln.dead || ln.throttle
	var err error
	if ln.words {
		_, err = ln.credit.Hear64(w)
	} else {
		_, err = ln.credit.Hear32(uint32(w))
	}
	if err != nil {
		e.Fault(fmt.Errorf("am: rank %d, peer %d: %w", e.rank, peer, err))
	}
	return w
}

// Throttled reports whether peer has asked for no more unmatched eager bytes, and Queueing whether sends are queued
// towards it. The pair must be locked, by an Open that said Stalled or inside Emit.
func (e *Endpoint) Throttled(peer int) bool {
	ln := e.senderOf(peer)
	e.refreshCredits(ln, peer)
	return ln.throttle
}

// Queueing: see Throttled.
func (e *Endpoint) Queueing(peer int) bool { return e.senderOf(peer).hasQueued }

// Queued is a send that waits for its turn on a pair. It is linked into one queue at most.
type Queued interface {
	// Emit tries to send with OpenQueued and CommitQueued, the pair locked; false keeps it at the head of the queue.
	Emit() bool
	// Sent runs after a successful Emit, the pair unlocked, on whoever polls; w is the polling worker or nil.
	Sent(w *fult.Worker)
	// Fail runs instead if the peer died.
	Fail(err error, w *fult.Worker)
	// Next is the link of the queue it is in. A Link has it.
	Next() *Queued
}

// Link is what a Queued embeds to be in a queue.
type Link struct{ next Queued }

// Next is that of Queued.
func (l *Link) Next() *Queued { return &l.next }

type queue struct{ head, tail Queued }

func (q *queue) pushLast(x Queued) {
	*x.Next() = nil
	if q.head == nil {
		q.head = x
	} else {
		*q.tail.Next() = x
	}
	q.tail = x
}

func (q *queue) popFirst() Queued {
	x := q.head
	q.head = *x.Next()
	*x.Next() = nil
	return x
}

// removeEntry takes x out, wherever it is; false if it is not there.
func (q *queue) removeEntry(x Queued) bool {
	var prev Queued
	for y := q.head; y != nil; prev, y = y, *y.Next() {
		if y != x {
			continue
		}
		if prev == nil {
			q.head = *y.Next()
		} else {
			*prev.Next() = *y.Next()
		}
		if q.tail == y {
			q.tail = prev
		}
		*y.Next() = nil
		return true
	}
	return false
}

// Lock locks the pair as an Open that said Stalled does, unless the peer is dead: Failed.
func (e *Endpoint) Lock(peer int) Outcome {
	ln := e.senderOf(peer)
	ln.mu.Lock()
	if ln.dead {
		ln.mu.Unlock()
		return Failed
	}
	return Stalled
}

// Enqueue puts x at the end of the pair's queue and unlocks the pair, after Open said Stalled. Whoever polls sends it.
func (e *Endpoint) Enqueue(peer int, x Queued) {
	ln := e.senderOf(peer)
	if ln.normal.head == nil {
		e.noteStall(ln, peer, x)
	}
	ln.normal.pushLast(x)
	e.listSender(ln, peer)
	ln.mu.Unlock()
	e.prog.Wake() // a sleeper did not know that there is something to send
}

// Withdraw takes a queued send back. False if it has been sent already.
func (e *Endpoint) Withdraw(peer int, x Queued) bool {
	ln := e.senderOf(peer)
	ln.mu.Lock()
	ok := ln.normal.removeEntry(x)
	ln.starvedAt.Store(0)
	e.unlistSender(ln)
	ln.mu.Unlock()
	return ok
}

func (e *Endpoint) listSender(ln *sender, peer int) {
	ln.hasQueued, ln.slowPath = true, true
	ln.starvedAt.Store(0)
	if !ln.waits {
		ln.waits = true
		e.stalled.addPeer(peer)
	}
}

func (e *Endpoint) unlistSender(ln *sender) {
	if ln.hasQueued && ln.normal.head == nil && ln.urgentQueue.head == nil && ln.urgent.head == nil {
		ln.hasQueued = false
		ln.slowPath = ln.dead || ln.throttle
	}
}

// pumpSender is called with the pair locked and unlocks it.
func (e *Endpoint) pumpSender(ln *sender, peer int, w *fult.Worker) (sent int) {
	var done queue
	e.refreshCredits(ln, peer)
	ln.starvedAt.Store(0)
	for _, q := range [...]*queue{&ln.urgent, &ln.urgentQueue, &ln.normal} {
		for q.head != nil && q.head.Emit() {
			x := q.popFirst()
			if x == ln.counted {
				ln.counted = nil // it may be used again
			}
			done.pushLast(x)
			sent++
		}
		if q.head != nil {
			e.noteStall(ln, peer, q.head)
			break
		}
	}
	dead := ln.dead || e.closed.Load()
	if dead {
		e.drainDead(ln, &done)
	}
	e.unlistSender(ln)
	ln.mu.Unlock()
	for done.head != nil {
		if x := done.popFirst(); dead {
			x.Fail(e.PeerError(peer), w)
		} else {
			x.Sent(w)
		}
	}
	return sent
}

func (e *Endpoint) drainDead(ln *sender, done *queue) {
	for _, q := range [...]*queue{&ln.urgent, &ln.urgentQueue, &ln.normal} {
		for q.head != nil {
			done.pushLast(q.popFirst())
		}
	}
}

// PeerError is why nothing is sent to a peer that has failed (ErrPeer), or since the endpoint has been closed
// (ErrClosed).
func (e *Endpoint) PeerError(peer int) error {
	if e.closed.Load() {
		return fmt.Errorf("%w: rank %d", ErrClosed, e.rank)
	}
	if err := e.c.Failed(peer); err != nil {
		return fmt.Errorf("%w: rank %d: %w", ErrPeer, peer, err)
	}
	return fmt.Errorf("%w: rank %d", ErrPeer, peer)
}

// tellCredits publishes what peer has got back, and the throttle bit. Called by the poller only.
func (e *Endpoint) tellCredits(peer int, n credit.Note, throttle bool) {
	w := n.Pack64()
	if !e.recv.notices[peer].is(hasWords) {
		w = uint64(n.Pack32())
	}
	if throttle {
		w |= wordThrottle
	}
	arch.StoreRel64(e.senderOf(peer).mine, w)
}
