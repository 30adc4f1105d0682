package am

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
)

// ReplyShort answers the request that the handler serves, by handler index h at its source. It never blocks: its room
// is reserved. A handler replies once at most; a reply handler not at all. Errors: ErrReply, ErrHandler, ErrSize.
func (t *Token) ReplyShort(h uint8, args ...uint64) error {
	return t.checkedReply(h, args, message{})
}

// ReplyMedium is ReplyShort with a payload of at most the MaxReply of the request's handler, in bytes. payload may be
// reused when it returns.
func (t *Token) ReplyMedium(h uint8, payload []byte, args ...uint64) error {
	return t.checkedReply(h, args, message{flags: flagMedium, payload: payload})
}

// ReplyLong is ReplyMedium whose payload is put into the requester's segment at byte off before h runs there. It may be
// longer than MaxReply: it then travels by bulk transfer, from a copy that is made here.
func (t *Token) ReplyLong(h uint8, payload []byte, off int64, args ...uint64) error {
	if len(payload) <= t.maxReply {
		return t.replyLong(h, payload, off, nil, args)
	}
	return t.replyLong(h, bytes.Clone(payload), off, nil, args)
}

// ReplyLongAsync is ReplyLong that makes no copy of a long payload. done is called once, when payload may be reused, as
// for RequestLongAsync; not if an error is returned.
func (t *Token) ReplyLongAsync(h uint8, payload []byte, off int64, done func(error), args ...uint64) error {
	return t.replyLong(h, payload, off, done, args)
}

func (t *Token) replyLong(h uint8, payload []byte, off int64, done func(error), args []uint64) error {
	if off < 0 {
		return fmt.Errorf("%w: segment offset %d", ErrSize, off)
	}
	if len(payload) > t.maxReply {
		return t.replySplit(h, payload, off, done, args)
	}
	err := t.checkedReply(h, args, packedLong(off, payload))
	if err == nil && done != nil {
		done(nil)
	}
	return err
}

// replySplit replies by a Long whose payload comes by bulk transfer. Its record fits what any request has reserved.
func (t *Token) replySplit(h uint8, payload []byte, off int64, done func(error), args []uint64) error {
	if err := t.checkReply(h, args, nil); err != nil {
		return err
	}
	b := t.e.putLong(t.src, payload, off, done)
	t.sendReply(h, args, splitLong(off, len(payload), b.ID))
	b.endPayload()
	return nil
}

func (t *Token) checkedReply(h uint8, args []uint64, m message) error {
	if err := t.checkReply(h, args, m.payload); err != nil {
		return err
	}
	t.sendReply(h, args, m)
	return nil
}

func (t *Token) checkReply(h uint8, args []uint64, payload []byte) error {
	spec := &t.e.specs[h]
	if t.e.guard != nil {
		if err := t.e.Allow(CallReply); err != nil {
			return err
		}
	}
	switch {
	case t.reply:
		return fmt.Errorf("%w: rank %d: the handler serves a reply of rank %d", ErrReply, t.e.rank, t.src)
	case !t.answer || t.maxReply == NoReply:
		return fmt.Errorf("%w: rank %d: the handler was registered with NoReply", ErrReply, t.e.rank)
	case t.replied:
		return fmt.Errorf("%w: rank %d: second reply to rank %d", ErrReply, t.e.rank, t.src)
	case spec.Run == nil:
		return fmt.Errorf("%w: index %d, in a reply to rank %d", ErrHandler, h, t.src)
	case len(args) > MaxArgs:
		return fmt.Errorf("%w: %d arguments, the most is %d", ErrSize, len(args), MaxArgs)
	case len(payload) > t.maxReply:
		return fmt.Errorf("%w: reply of %d bytes to rank %d, declared are %d", ErrSize, len(payload), t.src, t.maxReply)
	}
	return nil
}

// sendReply sends or, where there is no room in spite of the reservation (a conduit that guarantees nothing), queues.
func (t *Token) sendReply(h uint8, args []uint64, m message) {
	t.replied = true
	ln := t.e.senderOf(t.src)
	r := reply{e: t.e, dst: t.src, class: conduit.Reply, h: h, args: args, message: m}
	r.seq = uint16(replyBytes(t.maxReply) / 8)
	ln.mu.Lock()
	r.sendReply(ln)
	ln.mu.Unlock()
}

// replyBytes is the reply space that a request reserves for a reply of at most max payload bytes.
func replyBytes(max int) int {
	return (headerBytes + (MaxArgs+3)*argBytes + max + 63) &^ 63
}

// releaseReply gives back reply space of a request whose reply has come.
func (e *Endpoint) releaseReply(peer, bytes int) {
	ln := e.senderOf(peer)
	ln.mu.Lock()
	ln.replies -= int32(bytes)
	ln.mu.Unlock()
}

// reply is a record of class Reply or System: it needs no credits.
type reply struct {
	Link
	e       *Endpoint
	dst     int
	class   conduit.Class
	returns bool // it is sender.returning, as long as it is in the queue
	h       uint8
	seq     uint16
	args    []uint64
	message
}

// sendReply sends r, or has a copy of it wait for room before the requests. The pair is locked.
func (r *reply) sendReply(ln *sender) {
	if ln.urgent.head == nil && r.Emit() {
		return
	}
	k := *r
	k.args, k.payload = slices.Clone(r.args), bytes.Clone(r.payload)
	ln.returning = ln.returning || k.returns
	ln.urgent.pushLast(&k)
	r.e.listSender(ln, r.dst)
}

// Emit implements Queued.
func (r *reply) Emit() bool {
	e, n := r.e, headerBytes+len(r.args)*argBytes+r.byteCount()
	rec, st := e.c.Reserve(r.dst, r.class, n)
	ln := e.senderOf(r.dst)
	if st != conduit.OK {
		ln.dead = ln.dead || st == conduit.Dead
		ln.slowPath = ln.slowPath || ln.dead
		return ln.dead // a reply to the dead is done
	}
	w1, flags := word1(0, r.seq, 0), r.flags|flagReply
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	binary.LittleEndian.PutUint64(rec[8:], w1)
	e.putRecord(r.dst, rec[headerBytes:n], r.args, &r.message)
	e.c.Commit(r.dst, word0(n, r.h, flags, len(r.args)))
	if r.returns {
		ln.returning = false
	}
	return true
}

// Sent and Fail implement Queued. Nobody waits for a reply.
func (r *reply) Sent(*fult.Worker)        {}
func (r *reply) Fail(error, *fult.Worker) {}

// sendReturn sends returned credits as a message of their own. One is in the queue at most: it takes the newest count.
func (e *Endpoint) sendReturn(peer int) {
	ln := e.senderOf(peer)
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if !ln.returning {
		r := reply{e: e, dst: peer, class: conduit.System, h: handlerNothing, returns: true}
		r.sendReply(ln)
	}
}
