package rma

import (
	"fmt"

	"github.com/golci/golci/am"
)

// Handler indices, 160 to 191 of the endpoint. The first argument of all is the number of the requester's op.
const (
	hHello    = 160 + iota // region: asks for what a welcome tells
	hPut                   // offset; payload: the bytes
	hPutLong               // Long; nothing more
	hSet                   // offset, bytes, value
	hValue                 // offset, bytes, value
	hAck                   // status
	hGet                   // offset, bytes, place in the requester's buffer: up to 64 bytes
	hGet1K                 // the same, up to 1 KiB
	hGetMost               // the same, up to Memory.reply
	hData                  // place; payload: the bytes
	hLoad                  // offset, bytes
	hAtomic                // offset, code, two operands
	hOld                   // value, status
	hNote                  // offset, notification, its argument; payload: the bytes
	hNoteLong              // Long; offset, notification, its argument
	hRing                  // no op, counter: look whom it lets go on
	hCall                  // no op, offset, bytes, callback, its argument

	hUpdate     // region, bytes of the answer: up to 64; payload: the request
	hUpdate1K   // the same, up to 1 KiB
	hUpdateMost // the same, up to Memory.reply

	hEnd = 192 // the indices before it are this package's
)

const (
	smallReply  = 64
	middleReply = 1 << 10
	maxReply    = 4 << 10
	minFragment = 64
)

// getHandler is the handler that asks for n bytes. The room for the reply is reserved with the request, hence several.
func getHandler(n int) uint8 {
	switch {
	case n <= smallReply:
		return hGet
	case n <= middleReply:
		return hGet1K
	}
	return hGetMost
}

// Status of an answer.
const (
	statusOK = iota
	statusRefused
)

// handler serves a message whose number of arguments has been checked.
type handler struct {
	index    uint8
	name     string
	args     int
	maxReply int
	run      func(m *Memory, t *am.Token, a []uint64, p []byte) error
}

// registerLayer attaches this memory to its endpoint.
func (m *Memory) registerLayer() error {
	specs := make([]am.Spec, hEnd-hHello)
	for _, h := range m.handlers() {
		specs[h.index-hHello] = am.Spec{Name: "rma " + h.name, MaxReply: h.maxReply, Run: m.serveChecked(h)}
	}
	return m.e.Attach(am.Layer{Name: "rma", First: hHello, Handlers: specs, PeerGone: m.peerGone})
}

func (m *Memory) handlers() []handler {
	return []handler{
		{hHello, "hello", 2, len(segmentInfo{}), (*Memory).onHello},
		{hPut, "put", 2, 0, (*Memory).onPut},
		{hPutLong, "put long", 1, 0, (*Memory).onPutLong},
		{hSet, "memset", 4, 0, (*Memory).onSet},
		{hValue, "put value", 4, 0, (*Memory).onValue},
		{hAck, "ack", 2, am.NoReply, (*Memory).onAck},
		{hGet, "get", 4, smallReply, (*Memory).onGet},
		{hGet1K, "get 1K", 4, min(middleReply, m.reply), (*Memory).onGet},
		{hGetMost, "get most", 4, m.reply, (*Memory).onGet},
		{hData, "data", 2, am.NoReply, (*Memory).onData},
		{hLoad, "get value", 3, 0, (*Memory).onLoad},
		{hAtomic, "atomic", 5, 0, (*Memory).onAtomic},
		{hOld, "old value", 3, am.NoReply, (*Memory).onOld},
		{hNote, "put and notify", 4, 0, (*Memory).onNote},
		{hNoteLong, "put long and notify", 4, 0, (*Memory).onNoteLong},
		{hRing, "ring", 2, am.NoReply, (*Memory).onRing},
		{hCall, "call", 5, am.NoReply, (*Memory).onCall},
		{hUpdate, "update", 3, smallReply, (*Memory).onUpdate},
		{hUpdate1K, "update 1K", 3, min(middleReply, m.reply), (*Memory).onUpdate},
		{hUpdateMost, "update most", 3, m.reply, (*Memory).onUpdate},
	}
}

// serveChecked wraps a handler: what a peer sends is checked before use; what this rank cannot serve is a fault.
func (m *Memory) serveChecked(h handler) am.Handler {
	return func(t *am.Token, a []uint64, p []byte) {
		if len(a) != h.args {
			m.e.Fault(fmt.Errorf("rma: rank %d: %s of rank %d with %d arguments, want %d", m.rank, h.name, t.Source(), len(a), h.args))
			return
		}
		if err := h.run(m, t, a, p); err != nil {
			m.e.Fault(fmt.Errorf("rma: rank %d: %s of rank %d: %w", m.rank, h.name, t.Source(), err))
		}
	}
}

// localBytes gives n bytes of this rank's segment, or of a region; ok is false if they do not exist.
func (m *Memory) localBytes(off, n uint64) (mem []byte, ok bool) {
	size := uint64(m.size)
	if off > offsetMask && off>>63 == 0 && n <= maxSegment {
		r, at := splitOffset(int64(off))
		if own := m.regions.regionOf(r); own != nil {
			mem = own.pieceAt(at, int(n))
		}
		return mem, mem != nil
	}
	if off > size || n > size-off {
		return nil, false
	}
	return m.mem[off : off+n : off+n], true
}

// answer holds the arguments of an answer, so that they need not be allocated. It is the poller's, and copied by am.
type answer [3]uint64

func (m *Memory) ack(t *am.Token, id uint64, ok bool) error {
	m.answer = answer{id, statusWord(ok)}
	return t.ReplyShort(hAck, m.answer[:2]...)
}

func statusWord(ok bool) uint64 {
	if ok {
		return statusOK
	}
	return statusRefused
}

func (m *Memory) onPut(t *am.Token, a []uint64, p []byte) error {
	d, ok := m.localBytes(a[1], uint64(len(p)))
	copy(d, p)
	return m.ack(t, a[0], ok)
}

// onPutLong finds the bytes in their place.
func (m *Memory) onPutLong(t *am.Token, a []uint64, _ []byte) error { return m.ack(t, a[0], true) }

func (m *Memory) onSet(t *am.Token, a []uint64, _ []byte) error {
	d, ok := m.localBytes(a[1], a[2])
	fillBytes(d, byte(a[3]))
	return m.ack(t, a[0], ok)
}

func (m *Memory) onValue(t *am.Token, a []uint64, _ []byte) error {
	d, ok := m.localBytes(a[1], a[2])
	return m.ack(t, a[0], ok && putValue(d, a[3]))
}

func (m *Memory) onAck(t *am.Token, a []uint64, _ []byte) error {
	m.onAnswer(a[0], refusal(t, a[1]), t.Worker(), nil)
	return nil
}

func refusal(t *am.Token, status uint64) error {
	if status == statusOK {
		return nil
	}
	return fmt.Errorf("%w: rank %d, status %d", ErrRefused, t.Source(), status)
}

func (m *Memory) onGet(t *am.Token, a []uint64, _ []byte) error {
	s, ok := m.localBytes(a[1], a[2])
	if !ok || len(s) > m.reply {
		return m.ack(t, a[0], false)
	}
	m.answer = answer{a[0], a[3]}
	return t.ReplyMedium(hData, s, m.answer[:2]...)
}

func (m *Memory) onData(t *am.Token, a []uint64, p []byte) error {
	m.onAnswer(a[0], nil, t.Worker(), func(o *op) error {
		if at := a[1]; at <= uint64(len(o.dst)) && uint64(len(p)) <= uint64(len(o.dst))-at {
			copy(o.dst[at:], p)
			return nil
		}
		return fmt.Errorf("%w: rank %d sent %d bytes for place %d of %d", ErrRefused, t.Source(), len(p), a[1], len(o.dst))
	})
	return nil
}

func (m *Memory) onLoad(t *am.Token, a []uint64, _ []byte) error {
	s, ok := m.localBytes(a[1], a[2])
	v, fits := getValue(s)
	return m.onOldValue(t, a[0], v, ok && fits)
}

func (m *Memory) onOldValue(t *am.Token, id, v uint64, ok bool) error {
	m.answer = answer{id, v, statusWord(ok)}
	return t.ReplyShort(hOld, m.answer[:]...)
}

func (m *Memory) onOld(t *am.Token, a []uint64, _ []byte) error {
	m.onAnswer(a[0], refusal(t, a[2]), t.Worker(), func(o *op) error {
		o.old = a[1]
		o.into.store(a[1])
		return nil
	})
	return nil
}
