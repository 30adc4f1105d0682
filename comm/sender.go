package comm

import (
	"encoding/binary"
	"errors"

	"github.com/golci/golci/am"
	"github.com/golci/golci/comm/internal/match"
	"github.com/golci/golci/comm/internal/opstate"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// The sender's side of a message that does not leave at once, from startSend to its end. match.Protocol is the table of
// the states. The steps:
//
//	queued     startSend has given it a number. Emit, under the lock of the pair, sends the message itself, or its
//	           envelope (RTS), or follows an RTR that waits. Sent says that the queue has let go.
//	offered    The envelope has left. An answer comes: CTS, GO, an RTR that has crossed it, or RETRACTED (onRetracted).
//	streaming  streamBytes has put the bytes on the bulk channel; bulkSend.Sent is the end.
//	copying    onGo puts one part of the bytes, and the receiver gets the other (transfer.endTransfer, onCopied).
//	putting    onGo puts all bytes.
//
// What ends a send otherwise is in end.go and peerdeath.go.

// hookNumbered, set by tests, runs when a send has its number and is not in its pair's queue yet.
var hookNumbered func()

// startSend sends o or puts it in its pair's queue.
func (s *Server) startSend(o *op) {
	dst := int(o.peer)
	if o.size > int64(s.sure) && o.size <= int64(s.eager) && !o.send.sync {
		s.chooseSend(o)
	}
	if o.mayBeEager() && s.sendEagerAs(o.ctx, dst, int(o.tag), o.data, o.packSource(), o.signature) {
		o.noteScheme(&o.send.timing, o.size)
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

// mayBeEager tells that the send o may travel with its envelope.
func (o *op) mayBeEager() bool {
	return !o.send.sync && !o.send.asks && o.size <= int64(o.s.eager)
}

// packSource is what packs the bytes of the send o, nil if they are contiguous.
func (o *op) packSource() Source {
	if o.cursor == nil {
		return nil
	}
	return o.cursor.(Source)
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

// wireKey of a send: what the receiver matches.
func (o *op) wireKey() uint64 { return makeKey(o.ctx, o.s.rank, int(o.tag)) }

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

// offerBytes tells what the envelope of the send o offers.
func (s *Server) offerBytes(o *op) offer {
	if o.endable || o.cursor != nil || o.size < directMin {
		return offer{}
	}
	switch r := s.e.Reach(int(o.peer)); {
	case r.Get:
		k, ok := s.e.Expose(int(o.peer), o.data)
		if ok {
			o.exposed = k
		}
		return offer{k.Base, k.ID}
	case r.Put:
		return offer{id: willPut}
	}
	return offer{}
}

// followRTR starts the send o by an RTR, if one waits; false if there is none. It is o's turn. The pair
// is locked.
func (o *op) followRTR() bool {
	t := o.send.turns
	turn := t.Next()
	inv, ok := t.invited[turn]
	if !ok || o.s.ids.Remove(o.id) == nil { // it is being ended
		return false
	}
	t.Take()
	delete(t.invited, turn)
	if o.send.unfit = !inv.fitsSend(o); o.send.unfit {
		o.stepState(match.SentWhole)
	} else {
		o.stepState(match.Cleared)
	}
	o.send.invited = inv.number
	return true
}

// fitsSend tells whether the send o is the one that was invited.
func (i rtr) fitsSend(o *op) bool {
	return i.size == o.size && (i.signature == 0 || o.signature == 0 || i.signature == o.signature)
}

// Sent implements am.Queued: the envelope or the whole message is on its way.
func (o *op) Sent(w *fult.Worker) {
	if o.send.invited != 0 {
		o.afterFollow()
	}
	o.happenTo(match.Unqueued, w)
}

// afterFollow goes on when the send o, which follows an RTR, has left its queue.
func (o *op) afterFollow() {
	number := o.send.invited
	o.send.invited = 0
	if o.send.unfit {
		o.s.declineRTR(o, number)
		return
	}
	o.s.streamBytes(o, number, uint64(o.size))
}

// declineRTR tells a receive that its message is not as invited.
func (s *Server) declineRTR(o *op, number uint64) {
	s.e.PostUrgent(int(o.peer), handlerRetracted, number, uint64(o.size), o.signature)
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

// sendFailed is the error of a send whose peer has failed, or whose endpoint has been closed.
func (o *op) sendFailed(err error) error {
	if errors.Is(err, am.ErrClosed) {
		return o.failedWith(ErrClosed)
	}
	return o.failedWith(err)
}

// Next implements am.Queued.
func (o *op) Next() *am.Queued { return &o.send.next }

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
	*b = am.Bulk{ID: number, Channel: bulkChannel, Owner: (*bulkSend)(o), Stay: o.endable}
	if src := o.packSource(); src != nil {
		b.From, b.Rest = src, int(n)
	} else {
		b.Data = o.data[:n]
	}
	o.send.bulk = b
	s.e.PutBulk(int(o.peer), b)
}

// onGo starts the sender's part.
func (s *Server) onGo(t *am.Token, args []uint64, _ []byte) {
	if len(args) != 6 {
		s.reportFault(t, "go")
		return
	}
	in, from, to := match.HalfWanted, args[2], args[3]
	if from == 0 {
		in = match.AllWanted
	}
	fits := func(o *op) bool { return o.send.offered && from <= to && to <= uint64(len(o.data)) }
	o := s.answeredOp(t, args[0], in, "go", fits)
	if o == nil {
		return
	}
	s.hearChoice(o, Halves)
	o.stepState(in)
	x := s.transfers.Get().(*transfer)
	k := conduit.Key{ID: args[5], Base: args[4], Size: int64(to - from)}
	*x = transfer{Bulk: am.Bulk{Data: o.data[from:to], Key: k, Owner: x}, o: o, tell: args[1]}
	s.e.PutBulk(t.Source(), &x.Bulk)
}

// bulkSend makes a send the owner of its bulk transfer (am.BulkOwner).
type bulkSend op

// Sent implements am.BulkOwner.
func (b *bulkSend) Sent(w *fult.Worker) {
	o := (*op)(b)
	o.dropBulk()
	o.happenTo(match.Moved, w)
}

// Fail implements am.BulkOwner.
func (b *bulkSend) Fail(err error, w *fult.Worker) {
	o := (*op)(b)
	o.dropBulk()
	o.s.keepError(o, o.sendFailed(err))
	o.happenTo(match.Moved, w)
}

func (o *op) dropBulk() {
	*o.send.bulk = am.Bulk{}
	o.s.bulks.Put(o.send.bulk)
	o.send.bulk = nil
}

// keepRTR keeps an RTR for a send to come, or takes it as the answer to the envelope of the send.
func (s *Server) keepRTR(env envelope, w *fult.Worker) {
	src := keySource(env.key)
	if s.retired[keyContext(env.key)] || s.e.Lock(src) == am.Failed {
		return
	}
	t := s.sendsOf(env.key)
	inv := rtr{number: env.id, size: env.size, signature: env.signature}
	passed := t.Passed(env.turn)
	id := t.offered[env.turn]
	if passed {
		delete(t.offered, env.turn)
	} else {
		t.invited[env.turn] = inv
	}
	s.e.Abandon(src)
	if !passed {
		return
	}
	o := s.ids.Remove(id)
	if o == nil {
		return // the send has failed meanwhile
	}
	if inv.fitsSend(o) {
		o.stepState(match.Cleared)
		s.streamBytes(o, inv.number, uint64(o.size))
		return
	}
	s.declineRTR(o, inv.number)
	o.happenTo(match.NothingWanted, w)
}

// dropRTR drops an RTR that no send has followed, and tells the receiver. Called by the poller, in turn.
func (s *Server) dropRTR(env envelope) {
	src := keySource(env.key)
	if s.e.Lock(src) == am.Failed {
		return
	}
	t := s.sendsOf(env.key)
	_, waits := t.invited[env.turn]
	if waits {
		delete(t.invited, env.turn)
		t.Void(env.turn)
	}
	s.e.Abandon(src)
	if waits {
		s.e.PostUrgent(src, handlerRetracted, env.id)
	}
}

// forgetTurn forgets the turn of a send whose envelope is answered.
func (s *Server) forgetTurn(o *op) {
	if s.e.Lock(int(o.peer)) != am.Failed {
		delete(o.send.turns.offered, o.turn)
		s.e.Abandon(int(o.peer))
	}
}
