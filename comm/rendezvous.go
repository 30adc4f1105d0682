package comm

import (
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/fult"
)

// A rendezvous is three steps: the envelope (RTS) names the sender's op; when it meets a receive, the receiver answers
// (CTS) with the number of its own op and how many bytes it wants; the sender puts the bytes on the bulk channel under
// that number.

// beginRendezvous asks for the bytes of the message with the sender's number id, which has been matched with o. from
// is what the sender offers of them. It reports whether o is finished already, as there is nothing to wait for.
func (s *Server) beginRendezvous(o *op, size int64, id uint64, from offer) bool {
	o.size = size
	if o.recv.alloc != nil {
		s.allocateBuffer(o)
	}
	o.recv.want = min(size, o.bufferRoom())
	if o.err == nil {
		o.err = s.misfitError(o, size)
	}
	o.recv.received, o.recv.timing = 0, schemeTiming{}
	o.word.Begin(match.RecvPosted, opstate.Caller|opstate.Queue) // not in postReceive: most receives never come here
	own, want, src := uint64(0), o.recv.want, int(o.peer)
	if src == s.rank && s.copyOwn(o, id) {
		s.sendControl(src, handlerCTS, id, 0, 0) // nothing more is wanted
		return true
	}
	if s.beginDirect(o, id, from) {
		return false
	}
	if want > 0 {
		o.stepState(match.AskChunks)
		own = s.ids.Add(o)
		o.id = own
	}
	s.sendControl(src, handlerCTS, id, own, uint64(want)) // o may be finished from here on
	s.askedLate(own, src)
	return want == 0
}

// allocateBuffer has alloc give o the buffer for its message, unless the size that the sender tells is too much.
func (s *Server) allocateBuffer(o *op) {
	if err := CheckAlloc(o.size); err != nil {
		o.err = o.failedWith(err)
		return
	}
	o.data = o.recv.alloc(int(o.size))
}

// onCTS starts to send the bytes of a rendezvous.
func (s *Server) onCTS(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 3 {
		s.reportFault(t, "clear to send")
		return
	}
	in := match.Cleared
	if args[2] == 0 {
		in = match.NothingWanted
	}
	o := s.answeredOp(t, args[0], in, "clear to send", func(o *op) bool { return args[2] <= uint64(o.size) })
	if o == nil {
		return
	}
	if in == match.Cleared {
		s.hearChoice(o, Stream)
	} else {
		s.hearChoice(o, Get)
	}
	if do, e := o.stepState(in); do != match.Stream {
		o.afterStep(e, t.Worker())
		return
	}
	s.streamBytes(o, args[1], args[2])
}

// streamBytes sends the first n bytes of the send o in chunks to the receive with that number.
func (s *Server) streamBytes(o *op, number, n uint64) {
	b := s.bulks.Get().(*am.Bulk)
	o.setChunked(b, number, n)
	o.send.bulk = b
	s.e.PutBulk(int(o.peer), b)
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
		s.e.Fault(fmt.Errorf("%w: rank %d: %d bytes at %d from rank %d for an operation that waits for %d of %d from rank %d",
			ErrProtocol, s.rank, n, off, src, r.want-r.received, r.want, o.peer))
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

// sendControl sends a message of the protocol from anywhere, a handler too; it never blocks. Where others wait for
// credits it passes them, as a system message: what answers or recalls an envelope may overtake everything but that
// envelope.
func (s *Server) sendControl(dst int, h uint8, args ...uint64) {
	s.e.PostUrgent(dst, h, args...) // if dst is dead peerGone and askedLate end what waits for the answer
}
