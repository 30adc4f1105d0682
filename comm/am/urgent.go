package am

import (
	"encoding/binary"

	"github.com/golci/golci/comm/conduit"
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
		return e.peerError(dst)
	}
	ln := e.lane(dst)
	if ln.first.head == nil && e.emitUrgent(ln, dst, h, args) {
		ln.mu.Unlock()
		return nil
	}
	q := e.newRequest(dst, h, args, message{})
	q.urgent = true
	e.pushUrgent(ln, dst, q)
	return q.wait()
}

// EnqueueUrgent sends x, or puts it before the requests that wait, and unlocks the pair, after Open said Stalled. It
// does not block, and a handler may call it. x uses OpenUrgent in Emit.
func (e *Endpoint) EnqueueUrgent(peer int, x Queued) {
	ln := e.lane(peer)
	if ln.first.head == nil && x.Emit() {
		ln.mu.Unlock()
		x.Sent(nil)
		return
	}
	e.pushUrgent(ln, peer, x)
}

// pushUrgent is called with the pair locked and unlocks it.
func (e *Endpoint) pushUrgent(ln *lane, peer int, x Queued) {
	ln.first.push(x)
	e.list(ln, peer)
	ln.mu.Unlock()
	e.prog.Wake()
}

// emitUrgent sends an urgent request; false if there is no room for it, or for its reply. The pair is locked.
func (e *Endpoint) emitUrgent(ln *lane, peer int, h uint8, args []uint64) bool {
	body, first, o := e.openUrgent(ln, peer, h, len(args))
	if o == Opened {
		PutArgs(body, args)
		e.c.Commit(peer, first)
	}
	return o == Opened
}

// OpenUrgent is OpenQueued for a message without payload that needs no credits. RequestUrgent tells how it travels and
// what bounds it. It is for Queued.Emit of what EnqueueUrgent was given; CommitQueued ends it.
func (e *Endpoint) OpenUrgent(peer int, h uint8, nargs int) (body []byte, first uint64, o Outcome) {
	return e.openUrgent(e.lane(peer), peer, h, nargs)
}

func (e *Endpoint) openUrgent(ln *lane, peer int, h uint8, nargs int) ([]byte, uint64, Outcome) {
	spec := &e.specs[h]
	room := replyBytes(spec.MaxReply) // also of one that never replies: an empty reply takes its place
	if ln.replies > 0 && ln.replies+room > e.cfg.ReplySpace {
		return nil, 0, Stalled
	}
	n := headerBytes + nargs*argBytes
	rec, st := e.c.Reserve(peer, conduit.System, n)
	if st == conduit.Dead {
		ln.dead, ln.care = true, true
		return nil, 0, Failed
	}
	if st != conduit.OK {
		return nil, 0, Stalled
	}
	ln.replies += room
	w1, flags := word1(0, ln.seq, 0), uint8(flagAnswer)
	if spec.Ordered {
		flags |= flagOrdered
		ln.seq++
	}
	if !ln.words {
		w1, flags = e.piggyback(ln, w1, flags)
	}
	binary.LittleEndian.PutUint64(rec[8:], w1)
	return rec[headerBytes:n], word0(n, h, flags, nargs), Opened
}
