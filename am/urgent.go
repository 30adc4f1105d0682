package am

import (
	"encoding/binary"

	"github.com/golci/golci/conduit"
)

// RequestUrgent runs handler index h at rank dst with args (at most MaxArgs), as RequestShort does, but past
// everything that is queued for dst: requests that wait for credits, and bulk data. It takes no credits; where the
// conduit has a queue for system messages it travels and is served on that. The handler's reply, or an empty one in its
// place, gives back the reply space that bounds how many urgent messages are under way. Without such space it blocks the
// calling thread or goroutine until a reply comes; several that wait keep their order. It must not be called in a
// handler. The errors are those of RequestShort.
func (e *Endpoint) RequestUrgent(dst int, h uint8, args ...uint64) error {
	if err := e.checkRequest(dst, h, len(args), 0); err != nil {
		return err
	}
	if e.Lock(dst) == Failed {
		return e.PeerError(dst)
	}
	q := e.newRequest(dst, h, args, message{})
	q.urgent = true
	e.enqueueUrgent(dst, q)
	return q.waitSent()
}

// enqueueUrgent sends q, or puts it before the requests that wait. It is called with the pair locked and unlocks it.
func (e *Endpoint) enqueueUrgent(peer int, q *request) {
	ln := e.senderOf(peer)
	if ln.urgentQueue.head == nil && q.Emit() {
		ln.mu.Unlock()
		q.Sent(nil)
		return
	}
	ln.urgentQueue.pushLast(q)
	e.listSender(ln, peer)
	ln.mu.Unlock()
	e.prog.Wake()
}

// emitUrgent sends an urgent request; false if there is no room for it, or for its reply. The pair is locked.
func (e *Endpoint) emitUrgent(ln *sender, peer int, h uint8, args []uint64) bool {
	spec := &e.specs[h]
	room := replyBytes(spec.MaxReply) // also of one that never replies: an empty reply takes its place
	if ln.replies > 0 && int(ln.replies)+room > e.cfg.ReplySpace {
		return false
	}
	n := headerBytes + len(args)*argBytes
	rec, st := e.c.Reserve(peer, conduit.System, n)
	if st != conduit.OK {
		if st == conduit.Dead {
			ln.dead, ln.slowPath = true, true
		}
		return false
	}
	ln.replies += int32(room)
	w1, flags := word1(0, ln.seq, 0), uint8(flagAnswer)
	if spec.Ordered {
		flags |= flagOrdered
		ln.seq++
	}
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	binary.LittleEndian.PutUint64(rec[8:], w1)
	PutArgs(rec[headerBytes:], args)
	e.c.Commit(peer, word0(n, h, flags, len(args)))
	return true
}
