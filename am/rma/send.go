package rma

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// sendState is what an op has still to send. What cannot go at once goes when somebody polls, as am.Queued.
type sendState struct {
	kind  kind
	h     uint8 // handler of what travels in one record
	nargs int   // beside the op's number
	args  [maxArgs]uint64
	off   int64  // in the target's segment
	src   []byte // of a put
	n     int    // bytes of a get
	pos   int    // bytes of src sent, or of n asked for
}

const maxArgs = 4

// newTransfer gives an op that puts src at off of t's segment, or gets dst from there, under the key or in records.
func (m *Memory) newTransfer(t *target, off int64, src, dst []byte) (*op, error) {
	_, at := splitOffset(off)
	s, n, can, piece := sendState{kind: sendPuts, off: off, src: src}, len(src), t.reach.Put, m.frag
	if dst != nil {
		s, n, can, piece = sendState{kind: sendGets, off: off, n: len(dst)}, len(dst), t.reach.Get, m.reply
	}
	left := 0
	if !can {
		left = recordCount(n, piece)
	}
	o, err := m.newOp(t.rank, left, dst, result{})
	if err != nil {
		return nil, err
	}
	o.send = s
	if can {
		o.bulk = &o.access
		o.access = am.Bulk{Off: at, Data: src, Key: t.key, Owner: o}
		if dst != nil {
			o.bulk.Data, o.bulk.Get = dst, true
		}
	}
	return o, nil
}

// kind of sending.
type kind uint8

const (
	sendOne  kind = iota // a record with args and all of src
	sendPuts             // src in Mediums
	sendGets             // requests for n bytes
	sendOver             // nothing is left
)

// recordCount is how many answers a transfer of n bytes in pieces of at most piece takes.
func recordCount(n, piece int) int { return (n + piece - 1) / piece }

// launchOp sends what o has to send, or queues the rest for whoever polls. With immediate it sends the first record at
// once or returns ErrWouldBlock. On an error nothing has been sent and o has been given back.
func (m *Memory) launchOp(o *op, immediate bool) error {
	peer := o.peer
	if o.bulk != nil {
		m.e.PutBulk(peer, o.bulk) // which queues what the conduit does not take
		return nil
	}
	if m.e.Lock(peer) == am.Failed {
		return o.cancelUnsent(m.e.PeerError(peer))
	}
	queueing := m.e.Queueing(peer)
	switch {
	case !queueing && o.Emit():
		m.e.Abandon(peer)
		o.Sent(nil)
	case m.e.PeerFailed(peer) != nil:
		m.e.Abandon(peer)
		if o.send.pos == 0 {
			return o.cancelUnsent(m.e.PeerError(peer))
		}
		o.Fail(m.e.PeerError(peer), nil)
	case immediate && (queueing || o.send.pos == 0):
		m.e.Abandon(peer)
		return o.cancelUnsent(fmt.Errorf("%w: rank %d", ErrWouldBlock, peer))
	default:
		m.e.Enqueue(peer, o)
	}
	return nil
}

// sendNow sends an op of one record if that can go at once.
func (m *Memory) sendNow(o *op) bool {
	peer := o.peer
	if m.e.Lock(peer) == am.Failed {
		return false
	}
	ok := !m.e.Queueing(peer) && o.Emit()
	m.e.Abandon(peer)
	if ok {
		o.Sent(nil)
	}
	return ok
}

// cancelUnsent gives an op back of which nothing has been sent, and returns err.
func (o *op) cancelUnsent(err error) error {
	set, local := o.set, o.local
	o.freeOp()
	if local != nil {
		local.freeOp()
	}
	if set != nil {
		set.endPart(nil, nil)
	}
	return err
}

// Emit implements am.Queued.
func (o *op) Emit() bool {
	for o.send.kind != sendOver {
		if !o.emitNext() {
			return false
		}
	}
	return true
}

// emitNext sends the next record.
func (o *op) emitNext() bool {
	s := &o.send
	switch s.kind {
	case sendPuts:
		n := min(len(s.src)-s.pos, o.m.frag)
		if !o.sendRecord(hPut, [maxArgs]uint64{uint64(s.off) + uint64(s.pos)}, 1, s.src[s.pos:s.pos+n]) {
			return false
		}
		s.pos += n
		s.overAt(len(s.src))
	case sendGets:
		n := min(s.n-s.pos, o.m.reply)
		args := [maxArgs]uint64{uint64(s.off) + uint64(s.pos), uint64(n), uint64(s.pos)}
		if !o.sendRecord(getHandler(n), args, 3, nil) {
			return false
		}
		s.pos += n
		s.overAt(s.n)
	case sendOne:
		if !o.sendRecord(s.h, s.args, s.nargs, s.src) {
			return false
		}
		s.kind = sendOver
	}
	return true
}

func (s *sendState) overAt(end int) {
	if s.pos == end {
		s.kind = sendOver
	}
}

// sendRecord sends one record for o to handler h of o's peer. The id of o goes before args. It returns false, and has
// sent nothing, if credits or room are lacking or the peer is dead. The caller holds the send lock of the pair.
func (o *op) sendRecord(h uint8, args [maxArgs]uint64, nargs int, payload []byte) bool {
	e := o.m.e
	body, first, out := e.OpenQueued(o.peer, h, 1+nargs, len(payload))
	if out != am.Opened {
		return false
	}
	binary.LittleEndian.PutUint64(body, o.id)
	am.PutArgs(body[8:], args[:nargs])
	e.CopyOut(o.peer, body[8+8*nargs:], payload)
	e.CommitQueued(o.peer, first)
	return true
}

// Sent implements am.Queued and am.BulkOwner: the source may be reused, and an access has been made.
func (o *op) Sent(w *fult.Worker) { o.onSent(nil, w) }

// Fail implements am.Queued and am.BulkOwner.
func (o *op) Fail(err error, w *fult.Worker) {
	switch {
	case o.m.closed.Load():
		err = fmt.Errorf("%w: %v", ErrClosed, err)
	case errors.Is(err, conduit.ErrKey):
		err = fmt.Errorf("%w: rank %d: %v", ErrRefused, o.peer, err)
	}
	o.onSent(err, w)
}

func (o *op) onSent(err error, w *fult.Worker) {
	local := o.local
	o.local = nil
	o.dropSource()
	o.releaseHeld(err, w)
	if local != nil {
		local.releaseHeld(err, w)
	}
}

// keepSource copies the source of a put that is not sent yet. False if there are too many copies.
func (o *op) keepSource() bool {
	m, n := o.m, int64(len(o.send.src))
	if n > int64(m.frag) || m.kept.Add(n) > m.bounce {
		if n <= int64(m.frag) {
			m.kept.Add(-n)
		}
		return false
	}
	o.bounce = m.pool.Get().(*[]byte)
	o.send.src = (*o.bounce)[:copy(*o.bounce, o.send.src)]
	if o.bulk != nil {
		o.bulk.Data = o.send.src
	}
	return true
}

// dropSource lets go of what the source lies in, and of the access.
func (o *op) dropSource() {
	if o.bulk != nil {
		o.bulk, o.access = nil, am.Bulk{}
	}
	if o.bounce != nil {
		o.m.kept.Add(-int64(len(o.send.src)))
		o.m.pool.Put(o.bounce)
		o.bounce, o.send.src = nil, nil
	}
}
