package am

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
)

// ReplyShort answers the request that the handler serves, by running handler index h at its source. It never blocks:
// the requester has reserved the room. A handler replies once at most; a reply handler not at all. Errors: ErrReply,
// ErrHandler, ErrSize.
func (t *Token) ReplyShort(h uint8, args ...uint64) error {
	return t.checkedReply(h, 0, args, nil, nil)
}

// ReplyMedium is ReplyShort with a payload of at most the MaxReply of the request's handler, in bytes. payload may be
// reused when it returns.
func (t *Token) ReplyMedium(h uint8, payload []byte, args ...uint64) error {
	return t.checkedReply(h, flagMedium, args, nil, payload)
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
	err := t.checkedReply(h, flagLong, args, []uint64{uint64(off)}, payload)
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
	t.sendReply(h, flagLong|flagSplit, args, []uint64{uint64(off), uint64(len(payload)), b.ID}, nil)
	b.part()
	return nil
}

func (t *Token) checkedReply(h, flags uint8, args, prefix []uint64, payload []byte) error {
	if err := t.checkReply(h, args, payload); err != nil {
		return err
	}
	t.sendReply(h, flags, args, prefix, payload)
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
func (t *Token) sendReply(h, flags uint8, args, prefix []uint64, payload []byte) {
	t.replied = true
	e := t.e
	ln := e.lane(t.src)
	r := reply{e: e, dst: t.src, class: conduit.Reply, h: h, flags: flags | flagReply}
	r.seq = uint16(replyBytes(t.maxReply) / 8)
	r.args, r.prefix, r.payload = args, prefix, payload
	ln.mu.Lock()
	if ln.urgent.head == nil && r.emit() {
		ln.mu.Unlock()
		return
	}
	ln.urgent.push(r.keep())
	e.list(ln, t.src)
	ln.mu.Unlock()
}

// replyBytes is the reply space that a request reserves for a reply of at most max payload bytes.
func replyBytes(max int) int {
	return (headerBytes + (MaxArgs+3)*argBytes + max + 63) &^ 63
}

// releaseReply gives back reply space of a request whose reply has come.
func (e *Endpoint) releaseReply(peer, bytes int) {
	ln := e.lane(peer)
	ln.mu.Lock()
	ln.replies -= bytes
	ln.mu.Unlock()
}

// reply is a record of class Reply or System: it needs no credits.
type reply struct {
	next         Queued
	e            *Endpoint
	dst          int
	class        conduit.Class
	h, flags     uint8
	seq          uint16
	args, prefix []uint64
	payload      []byte
}

// emit sends the record; the pair is locked.
func (r *reply) emit() bool {
	e, n := r.e, headerBytes+len(r.args)*argBytes+len(r.prefix)*argBytes+len(r.payload)
	rec, st := e.c.Reserve(r.dst, r.class, n)
	ln := e.lane(r.dst)
	if st != conduit.OK {
		ln.dead = ln.dead || st == conduit.Dead
		ln.care = ln.care || ln.dead
		return ln.dead // a reply to the dead is done
	}
	w1, flags := word1(0, r.seq, 0), r.flags
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	binary.LittleEndian.PutUint64(rec[8:], w1)
	body := rec[headerBytes:n]
	putArgs(body, r.args)
	putArgs(body[len(r.args)*argBytes:], r.prefix)
	copy(body[(len(r.args)+len(r.prefix))*argBytes:], r.payload)
	e.c.Commit(r.dst, word0(n, r.h, flags, len(r.args)))
	return true
}

// keep copies the reply out of its caller's memory, for the queue.
func (r *reply) keep() *reply {
	k := *r
	k.args = append([]uint64(nil), r.args...)
	k.prefix = append([]uint64(nil), r.prefix...)
	k.payload = append([]byte(nil), r.payload...)
	return &k
}

// Emit implements Queued.
func (r *reply) Emit() bool { return r.emit() }

// Sent implements Queued.
func (r *reply) Sent(*fult.Worker) {}

// Fail implements Queued.
func (r *reply) Fail(error, *fult.Worker) {}

// Next implements Queued.
func (r *reply) Next() *Queued { return &r.next }

// sendReturn sends returned credits as a message of their own, to a peer towards which there are no words. One is in
// the queue at most: it takes the newest count when it goes.
func (e *Endpoint) sendReturn(peer int) {
	ln := e.lane(peer)
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if ln.returning {
		return
	}
	r := reply{e: e, dst: peer, class: conduit.System, h: handlerNothing, flags: flagReply}
	if ln.urgent.head == nil && r.emit() {
		return
	}
	ln.returning = true
	ln.urgent.push(&creditReturn{r.keep()})
	e.list(ln, peer)
}

type creditReturn struct{ *reply }

// Emit implements Queued.
func (c *creditReturn) Emit() bool {
	ok := c.emit()
	if ok {
		c.e.lane(c.dst).returning = false
	}
	return ok
}
