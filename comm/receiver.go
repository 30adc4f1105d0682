package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// The receiver's side of a message, from its match to its end. match.Protocol is the table of the states. The steps:
//
//	posted            deliver has the receive and its message. One with its bytes is copied, and that is the end.
//	                  For a rendezvous beginRendezvous takes one of the next four steps.
//	receiving         CTS has asked for chunks. bulkArrived puts each into its place; the last one ends the receive.
//	getting           getBytes copies all from the sender's memory; transfer.endTransfer ends the receive.
//	receiving a half  goAhead has told the sender to put the second half, and getBytes gets the first.
//	being filled      goAhead has told the sender to put all; COPIED ends the receive (onCopied).
//	invited           postReceiverFirst has told the sender the receive's number. Chunks follow as in receiving, or
//	                  RETRACTED says that none do (onRetracted).
//
// What ends a receive otherwise is in end.go and peerdeath.go.

// deliver gives the receive o the message that the caller has matched with it. That is the bytes in payload. If ask is
// not nil, it is the rendezvous that the sender asks for. deliver reports whether o is finished; the caller completes
// it then. It is called once for o.
func (s *Server) deliver(o *op, key, signature uint64, ask *rts, payload []byte) (done bool) {
	if o.wild { // else they are the same, and a waiter may be reading them
		o.peer, o.tag = int32(keySource(key)), int32(keyTag(key))
	}
	switch {
	case s.endMismatched(o, signature):
		if ask != nil {
			s.e.PostUrgent(int(o.peer), handlerCTS, ask.id, 0, 0) // nothing is wanted
		}
	case ask != nil:
		return s.beginRendezvous(o, ask)
	default:
		s.fillEager(o, payload)
	}
	return true
}

// endMismatched ends the receive o, which has been matched with a message of that signature, if it takes others. Its
// buffer stays as it is. The caller completes it.
func (s *Server) endMismatched(o *op, signature uint64) bool {
	if signature == 0 || o.signature == 0 || signature == o.signature {
		return false
	}
	o.data, o.cursor = nil, nil
	o.err = o.failedWith(&SignatureError{Sent: signature, Received: o.signature})
	return true
}

// fillEager copies the bytes of an eager message into o.
func (s *Server) fillEager(o *op, payload []byte) {
	o.size = int64(len(payload))
	if o.recv.alloc != nil {
		o.data = o.recv.alloc(len(payload))
	}
	o.placeBytes(payload, 0)
	o.err = s.misfitError(o, o.size)
}

// placeBytes puts bytes of the message from offset off on where they belong, as far as there is room, and returns how
// many.
func (o *op) placeBytes(b []byte, off int) int {
	if o.cursor == nil {
		return copy(o.data[off:], b)
	}
	if b = b[:min(len(b), o.cursor.Len()-off)]; len(b) > 0 {
		o.cursor.(Target).Unpack(b, off)
	}
	return len(b)
}

// misfitError is why a message of that size is not as it should be for the receive o; nil if it is.
func (s *Server) misfitError(o *op, size int64) error {
	n := o.bufferRoom()
	switch {
	case size == n || size < n && !o.exact:
		return nil
	case !o.exact:
		return o.failedWith(fmt.Errorf("%w: %d bytes do not fit a buffer of %d", ErrTruncate, size, n))
	case size > n:
		return o.failedWith(fmt.Errorf("%w: exact_length: %w: %d bytes for a buffer of %d",
			ErrAssert, ErrTruncate, size, n))
	}
	return o.failedWith(fmt.Errorf("%w: exact_length: %d bytes for a buffer of %d", ErrAssert, size, n))
}

// beginRendezvous asks for the bytes of the message that ask tells of, which has been matched with o. It reports
// whether o is finished already, as there is nothing to wait for.
func (s *Server) beginRendezvous(o *op, ask *rts) (done bool) {
	o.size = ask.size
	if o.recv.alloc != nil {
		s.allocateBuffer(o)
	}
	o.recv.want = min(ask.size, o.bufferRoom())
	if o.err == nil {
		o.err = s.misfitError(o, ask.size)
	}
	o.recv.received, o.recv.timing = 0, schemeTiming{}
	o.word.Begin(match.RecvPosted, opstate.Caller|opstate.Queue) // not in postReceive: most receives never come here
	own, want, src := uint64(0), o.recv.want, int(o.peer)
	if src == s.rank && s.copyOwn(o, ask.id) {
		s.e.PostUrgent(src, handlerCTS, ask.id, 0, 0) // nothing more is wanted
		return true
	}
	if s.beginDirect(o, ask) {
		return false
	}
	if want > 0 {
		o.stepState(match.AskChunks)
		own = s.ids.Add(o)
		o.id = own
	}
	s.e.PostUrgent(src, handlerCTS, ask.id, own, uint64(want)) // o may be finished from here on
	s.askedLate(own, src)
	return want == 0
}

// allocateBuffer calls alloc for the buffer of o, unless the size that the sender tells is too much.
func (s *Server) allocateBuffer(o *op) {
	if err := CheckAlloc(o.size); err != nil {
		o.err = o.failedWith(err)
		return
	}
	o.data = o.recv.alloc(int(o.size))
}

// uncheckedAlloc is how many bytes are allocated without a look at the limits of the system, which takes system calls.
// A message above it takes far longer than they do.
const uncheckedAlloc = 64 << 20

// CheckAlloc returns ErrMemory if n bytes, of a message that a peer has told of, are more than this process may have:
// see conduit.CheckGrant. The make of so many would end the process. That it returns nil does not reserve anything. n
// is not negative. It does not block.
func CheckAlloc(n int64) error {
	if n <= uncheckedAlloc {
		return nil
	}
	return conduit.CheckGrant(n)
}

// ownPiece is how many bytes are packed at once for a copy between buffers of which one or both have holes.
const ownPiece = 64 << 10

// copyOwn copies the message of the send with that number, of this rank, into the receive o. So the receive is done
// when the send is, and a receive of a message that is there already is done at once. False if the send is over
// meanwhile. It runs as the poller. So nobody ends the send meanwhile, which would give its bytes back to the program.
func (s *Server) copyOwn(o *op, id uint64) (ok bool) {
	s.e.AsPoller(func() {
		send := s.ids.Get(id)
		if ok = send != nil && send.send != nil && o.recv.want <= send.size; ok {
			o.placeAll(send, o.recv.want)
		}
	})
	return ok
}

// placeAll puts the first n bytes of a send into the receive o.
func (o *op) placeAll(send *op, n int64) {
	if send.cursor == nil {
		o.placeBytes(send.data[:n], 0)
		return
	}
	src := send.cursor.(Source)
	b := make([]byte, min(n, ownPiece))
	for off := int64(0); off < n; off += int64(len(b)) {
		b = b[:min(n-off, ownPiece)]
		src.Pack(b, int(off))
		o.placeBytes(b, int(off))
	}
}

// beginDirect starts to copy the message, of which its sender offers ask.from; false if this rank cannot, or it is not
// worth it.
func (s *Server) beginDirect(o *op, ask *rts) bool {
	if ask.from.id == 0 || o.cursor != nil || o.recv.want < directMin {
		return false
	}
	r := s.e.Reach(int(o.peer))
	switch {
	case ask.from.id == willPut:
		return r.Put && !o.endable && s.goAhead(o, ask, 0)
	case !r.Get:
		return false
	case r.Near:
		switch s.chooseScheme(o, r) {
		case Stream:
			return false
		case Halves:
			return s.goAhead(o, ask, o.recv.want/2&^(pageBytes-1))
		}
	}
	o.stepState(match.AskGet)
	s.getBytes(o, ask, o.recv.want)
	return true
}

// pageBytes is what halves are rounded to, so that the copies do not share lines or pages.
const pageBytes = 4096

// goAhead lets the sender put the bytes of o from half on, and gets those before; false if the sender cannot reach
// them now.
func (s *Server) goAhead(o *op, ask *rts, half int64) bool {
	src := int(o.peer)
	k, ok := s.e.Expose(src, o.data[half:o.recv.want])
	if !ok {
		return false
	}
	o.exposed = k
	if half > 0 {
		o.stepState(match.AskHalf)
	} else {
		o.stepState(match.AskPut)
	}
	own := s.ids.Add(o)
	o.id = own
	s.e.PostUrgent(src, handlerGo, ask.id, own, uint64(half), uint64(o.recv.want), k.Base, k.ID)
	if half > 0 {
		s.getBytes(o, ask, half)
	}
	s.askedLate(own, src) // o may be finished by now
	return true
}

// getBytes fetches the first n bytes of o.
func (s *Server) getBytes(o *op, ask *rts, n int64) {
	x := s.transfers.Get().(*transfer)
	k := conduit.Key{ID: ask.from.id, Base: ask.from.base, Size: o.size}
	*x = transfer{Bulk: am.Bulk{Data: o.data[:n], Key: k, Get: true, Owner: x}, o: o, tell: ask.id}
	s.e.PutBulk(int(o.peer), &x.Bulk)
}

// bulkArrived puts a piece of a rendezvous where it belongs. Called by the poller.
func (s *Server) bulkArrived(src int, id uint64, off int64, chunk []byte, w *fult.Worker) {
	o := s.ids.Get(id)
	if o == nil {
		return // the receive has failed meanwhile
	}
	n := int64(len(chunk))
	r := o.recv
	if r == nil {
		s.e.Fault(fmt.Errorf("%w: rank %d: %d bytes at %d from rank %d for a send", ErrProtocol, s.rank, n, off, src))
		return
	}
	if !o.mayStream() || int(o.peer) != src || n > r.want-r.received || off < 0 || off > r.want-n {
		const text = "%w: rank %d: %d bytes at %d from rank %d for an operation that waits for %d of %d from rank %d"
		s.e.Fault(fmt.Errorf(text, ErrProtocol, s.rank, n, off, src, r.want-r.received, r.want, o.peer))
		return
	}
	o.placeBytes(chunk, int(off))
	if r.received += n; r.received == r.want {
		s.ids.Remove(id)
		o.happenTo(match.LastChunk, w)
	}
}

// mayStream tells whether chunks may come for the receive o.
func (o *op) mayStream() bool { return o.word.State() == match.RecvStreaming || o.hasSentRTR() }

// hasSentRTR tells that the receive o has invited its message.
func (o *op) hasSentRTR() bool {
	return o.word.State() == match.RecvInvited || o.word.State() == match.RecvRecalled
}

// postReceiverFirst is postReceive for a receive that may invite its message.
func (s *Server) postReceiverFirst(o *op) {
	s.receives.mu.Lock()
	turns := s.receives.turnsOf(o.tableKey())
	m := s.matching.takeMessage(o.ctx, o.plainPattern())
	if m == nil || m.receiverFirst {
		o.turn = turns.Take()
	}
	s.receives.mu.Unlock()
	if m != nil {
		if s.deliverKept(o, m) {
			o.done.Finish()
		}
		return
	}
	o.size, o.recv.want, o.recv.received = o.bufferRoom(), o.bufferRoom(), 0
	o.word.Begin(match.RecvInvited, opstate.Caller|opstate.Peer)
	id, src, signature := s.ids.Add(o), int(o.peer), o.signature
	o.id = id
	key, turn, size := makeKey(o.ctx, s.rank, int(o.tag)), o.turn, uint64(o.size)
	s.e.PostUrgent(src, handlerRTR, key, turn, id, size, signature) // o may be finished from here on
	s.askedLate(id, src)
}

// endDeclined ends the receive o, whose message has other bytes or elements than it has asked for.
func (s *Server) endDeclined(o *op, size int64, signature uint64) {
	if s.endMismatched(o, signature) {
		return
	}
	s.keepError(o, s.misfitError(o, size))
}
