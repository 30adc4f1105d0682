package comm

import (
	"encoding/binary"
	"errors"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/fult"
)

// Mode of a send.
type Mode uint8

// Modes: Standard completes when the buffer may be reused; Synchronous when a receive has been matched (MPI 3.4).
const (
	Standard Mode = iota
	Synchronous
)

// Send sends data to rank dst with tag in context ctx, and returns when data may be reused. opt may be nil. It does not
// block while the message is small and the receiver keeps up; else it waits, and a fult thread lets others run. What a
// Source packs travels eagerly in its record, or chunk by chunk: there is never a copy of all of a larger one.
// Errors: ErrClosed, ErrRank, ErrTag, ErrContext; ErrBuffer for a Source of negative length.
func (s *Server) Send(ctx uint16, dst, tag int, data []byte, opt *Options) error {
	if s.closed.Load() || uint(dst) >= uint(s.size) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		o, err := s.beginSend(ctx, dst, tag, data, opt, true)
		if o == nil {
			return err
		}
		return s.sendAndWait(o)
	}
	if len(data) <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
		return nil
	}
	if len(data) <= s.sure && s.sendEager(ctx, dst, tag, data) {
		return nil
	}
	return s.sendSlow(ctx, dst, tag, data)
}

// sendEager sends at once or not at all.
func (s *Server) sendEager(ctx uint16, dst, tag int, data []byte) bool {
	body, first, o := s.e.Open(dst, handlerEager, 1, len(data))
	if o != am.Opened {
		if o == am.Stalled {
			s.e.Abandon(dst)
		}
		return false
	}
	binary.LittleEndian.PutUint64(body, makeKey(ctx, s.rank, tag))
	s.e.CopyOut(dst, body[8:], data)
	s.e.Commit(dst, first)
	return true
}

// sendEagerAs is sendEager of a message that has a signature, if that is not 0, and that src packs, if that is not nil.
func (s *Server) sendEagerAs(ctx uint16, dst, tag int, data []byte, src Source, signature uint64) bool {
	size := len(data)
	switch {
	case src != nil:
		size = src.Len()
	case signature == 0:
		if size <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
			return true
		}
		return s.sendEager(ctx, dst, tag, data)
	}
	body, first, o := s.e.Open(dst, handlerEager, 1+signatureArgs(signature), size)
	if o != am.Opened {
		if o == am.Stalled {
			s.e.Abandon(dst)
		}
		return false
	}
	s.putEager(dst, body, makeKey(ctx, s.rank, tag), signature, data, src)
	s.e.Commit(dst, first)
	return true
}

func (s *Server) sendSlow(ctx uint16, dst, tag int, data []byte) error {
	if err := s.mayWait("send", dst, tag); err != nil {
		return err
	}
	return s.sendAndWait(s.newSend(ctx, dst, tag, data, Standard))
}

// sendAndWait starts the send o and waits for it.
func (s *Server) sendAndWait(o *op) error {
	if t := s.eng.Current(); t != nil {
		o.done.Expect(t)
	}
	s.startSend(o)
	s.awaitOp(o)
	_, err := s.useResult(Req{o, o.gen})
	return err
}

// Isend starts a send and returns a request to wait for; data, or what a Source packs, must stay as it is until then.
// opt may be nil. It never blocks. Errors as for Send.
func (s *Server) Isend(ctx uint16, dst, tag int, data []byte, opt *Options) (Req, error) {
	if s.closed.Load() || uint(dst) >= uint(s.size) || uint(tag) > MaxTag || ctx >= FirstAsserted || opt != nil {
		o, err := s.beginSend(ctx, dst, tag, data, opt, false)
		if o == nil {
			return Req{}, err
		}
		return s.startOp(o, opt, s.startSend), nil
	}
	if len(data) <= s.injected && s.e.Inject(dst, handlerEager, makeKey(ctx, s.rank, tag), data) {
		return Req{}, nil
	}
	if len(data) <= s.sure && s.sendEager(ctx, dst, tag, data) {
		return Req{}, nil
	}
	return s.startOp(s.newSend(ctx, dst, tag, data, Standard), nil, s.startSend), nil
}

func (s *Server) newSend(ctx uint16, dst, tag int, data []byte, mode Mode) *op {
	o := s.getSend()
	o.startUse(roleSend, ctx, int32(dst), int32(tag), data)
	o.size = int64(len(data))
	*o.send = sending{sync: mode == Synchronous}
	return o
}

// mayBeEager tells that the send o may travel with its envelope.
func (o *op) mayBeEager() bool {
	return !o.send.sync && !o.send.asks && o.size <= int64(o.s.eager)
}

// hookNumbered, set by tests, runs when a send has its number and is not in its pair's queue yet.
var hookNumbered func()

// startSend sends o or puts it in its pair's queue.
func (s *Server) startSend(o *op) {
	dst := int(o.peer)
	if o.size > int64(s.sure) && o.size <= int64(s.eager) && !o.send.sync {
		s.chooseSend(o)
	}
	if o.mayBeEager() && s.sendEagerAs(o.ctx, dst, int(o.tag), o.data, o.packSource(), o.signature) {
		if o.send.timing.scheme != Auto {
			o.noteSend()
		}
		o.done.Finish()
		return
	}
	o.word.Begin(match.SendQueued, opstate.Caller|opstate.Queue|opstate.Peer)
	o.id = s.ids.Add(o)
	if hookNumbered != nil {
		hookNumbered()
	}
	o.receiverFirst = s.isReceiverFirst(o.ctx, dst, int(o.tag), o.size)
	if s.e.Lock(dst) == am.Failed {
		o.Fail(s.e.PeerError(dst), nil)
		return
	}
	if o.receiverFirst {
		o.send.turns = s.sendsOf(o.tableKey())
	}
	switch {
	case !s.e.Queueing(dst) && o.Emit():
		s.e.Abandon(dst)
		o.Sent(nil)
	default:
		s.e.Enqueue(dst, o)
	}
}

// Emit implements am.Queued: the message itself if it may travel eagerly by now, else its envelope.
func (o *op) Emit() bool {
	s, dst := o.s, int(o.peer)
	if o.mayBeEager() && !s.e.Throttled(dst) {
		body, first, outcome := s.e.OpenQueued(dst, handlerEager, 1+signatureArgs(o.signature), int(o.size))
		if outcome != am.Opened {
			return false
		}
		s.putEager(dst, body, o.wireKey(), o.signature, o.data, o.packSource())
		if s.ids.Remove(o.id) != nil { // else it is being ended
			o.stepState(match.SentWhole) // the queue has a hand in it still
		}
		s.e.CommitQueued(dst, first)
		return true
	}
	if o.receiverFirst && o.followRTR() {
		return true
	}
	body, first, outcome := s.e.OpenQueued(dst, handlerRTS, o.envelopeArgs(), 0)
	if outcome != am.Opened {
		return false
	}
	binary.LittleEndian.PutUint64(body, o.wireKey())
	binary.LittleEndian.PutUint64(body[8:], uint64(o.size))
	binary.LittleEndian.PutUint64(body[16:], o.id)
	from := s.offerBytes(o)
	if from.id != 0 {
		o.send.offered = true
		s.peers[dst].offers.Add(1)
	}
	binary.LittleEndian.PutUint64(body[24:], from.base)
	binary.LittleEndian.PutUint64(body[32:], from.id)
	if o.signature != 0 {
		binary.LittleEndian.PutUint64(body[40:], o.signature)
	}
	if o.receiverFirst {
		o.putTurn(body[40:])
	}
	o.stepState(match.SentEnvelope) // before an answer can come
	s.e.CommitQueued(dst, first)
	return true
}

// signatureArgs is how many arguments a signature takes in a record.
func signatureArgs(signature uint64) int {
	if signature == 0 {
		return 0
	}
	return 1
}

// envelopeArgs is how many arguments the envelope of o has; putTurn writes those that it has if o might be invited.
func (o *op) envelopeArgs() int {
	if o.receiverFirst {
		return 7
	}
	return 5 + signatureArgs(o.signature)
}

func (o *op) putTurn(b []byte) {
	o.turn = o.send.turns.Take()
	o.send.turns.offered[o.turn] = o.id
	binary.LittleEndian.PutUint64(b, o.signature)
	binary.LittleEndian.PutUint64(b[8:], o.turn)
}

// wireKey of a send: what the receiver matches.
func (o *op) wireKey() uint64 { return makeKey(o.ctx, o.s.rank, int(o.tag)) }

// Sent implements am.Queued: the envelope or the whole message is on its way.
func (o *op) Sent(w *fult.Worker) {
	if o.send.invited != 0 {
		o.afterFollow()
	}
	o.happenTo(match.Unqueued, w)
}

// sendFailed is the error of a send whose peer has failed, or whose endpoint has been closed.
func (o *op) sendFailed(err error) error {
	if errors.Is(err, am.ErrClosed) {
		return o.failedWith(ErrClosed)
	}
	return o.failedWith(err)
}

// Fail implements am.Queued. It is called also for a send that has left the queue, if the pair or the endpoint ended
// right after that.
func (o *op) Fail(err error, w *fult.Worker) {
	if o.s.ids.Remove(o.id) != nil { // nobody else ends it
		o.s.keepError(o, o.sendFailed(err))
		o.stepState(match.PeerLost)
	}
	if o.send.invited != 0 && !o.send.unfit { // its bytes were about to go
		o.s.keepError(o, o.sendFailed(err))
		o.stepState(match.Moved)
	}
	o.send.invited = 0
	o.happenTo(match.Unqueued, w)
}

// Next implements am.Queued.
func (o *op) Next() *am.Queued { return &o.send.next }

// bulkSend makes a send the owner of its bulk transfer (am.BulkOwner).
type bulkSend op

// Sent implements am.BulkOwner.
func (m *bulkSend) Sent(w *fult.Worker) {
	o := (*op)(m)
	o.dropBulk()
	o.happenTo(match.Moved, w)
}

func (o *op) dropBulk() {
	*o.send.bulk = am.Bulk{}
	o.s.bulks.Put(o.send.bulk)
	o.send.bulk = nil
}

// Fail implements am.BulkOwner.
func (m *bulkSend) Fail(err error, w *fult.Worker) {
	o := (*op)(m)
	o.dropBulk()
	o.s.keepError(o, o.sendFailed(err))
	o.happenTo(match.Moved, w)
}
