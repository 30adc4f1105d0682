package am

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/comm/conduit"
)

// RequestUrgent runs handler index h at rank dst with args (at most MaxArgs), as RequestShort does, but past
// everything that is queued for dst: requests that wait for credits, and bulk data. It takes no credits; where the
// conduit has a queue for system messages it travels and is served on that. The handler must be one that may reply:
// the reply, or the empty one in its place, gives back the reply space that bounds how many urgent messages are under
// way. Without such space it blocks the calling thread or goroutine until a reply comes; several that wait keep their
// order. It must not be called in a handler. The errors are those of RequestShort, and ErrReply for a handler with
// NoReply or with an order.
func (e *Endpoint) RequestUrgent(dst int, h uint8, args ...uint64) error {
	if err := e.checkRequest(dst, h, len(args), 0); err != nil {
		return err
	}
	if spec := &e.specs[h]; spec.MaxReply == NoReply || spec.Ordered {
		return fmt.Errorf("%w: an urgent message to rank %d must have a handler that may reply, and no order: index %d", ErrReply, dst, h)
	}
	ln := e.lane(dst)
	ln.mu.Lock()
	if !ln.dead && ln.first.head == nil && e.emitUrgent(ln, dst, h, args) && !ln.dead {
		ln.mu.Unlock()
		return nil
	}
	if ln.dead {
		ln.mu.Unlock()
		return e.peerError(dst)
	}
	q := &urgent{request{e: e, dst: dst, h: h, nargs: len(args)}}
	copy(q.args[:], args)
	if t := e.prog.Current(); t != nil {
		q.done.Expect(t)
	}
	ln.first.push(q)
	e.list(ln, dst)
	ln.mu.Unlock()
	e.prog.Wake()
	e.prog.Wait(&q.done)
	return q.err
}

// urgent is a request that goes before those that are queued.
type urgent struct{ request }

// Emit implements Queued.
func (q *urgent) Emit() bool { return q.e.emitUrgent(q.e.lane(q.dst), q.dst, q.h, q.args[:q.nargs]) }

// emitUrgent sends an urgent request; false if there is no room for it, or for its reply. The pair is locked.
func (e *Endpoint) emitUrgent(ln *lane, peer int, h uint8, args []uint64) bool {
	room := replyBytes(e.specs[h].MaxReply)
	if ln.replies > 0 && ln.replies+room > e.cfg.ReplySpace {
		return false
	}
	n := headerBytes + len(args)*argBytes
	rec, st := e.c.Reserve(peer, conduit.System, n)
	if st != conduit.OK {
		ln.dead = ln.dead || st == conduit.Dead
		ln.care = ln.care || ln.dead
		return false
	}
	ln.replies += room
	w1, flags := word1(0, 0, 0), uint8(flagAnswer)
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	binary.LittleEndian.PutUint64(rec[8:], w1)
	putArgs(rec[headerBytes:n], args)
	e.c.Commit(peer, word0(n, h, flags, len(args)))
	return true
}
