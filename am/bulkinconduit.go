package am

import (
	"sync/atomic"

	"github.com/golci/golci/fult"
)

// bulkInConduit is what of a Bulk the conduit has, and has not told the end of.
type bulkInConduit struct {
	e *Endpoint
	// owed is the bytes that the conduit has, and 1 while the Bulk is queued. Who brings it to zero ends the Bulk.
	owed atomic.Int64
	err  atomic.Pointer[error]
}

// giveBulk offers b to the conduit, which takes what it can; the queue is locked. -1 if the peer is dead.
func (e *Endpoint) giveBulk(peer int, b *Bulk) int {
	k, n := &b.inConduit, len(b.Data)
	if k.e == nil {
		k.e = e
		k.owed.Store(1)
	}
	k.owed.Add(int64(n)) // before: the end may be told before the call returns
	taken, keeps := e.startBulk(peer, b)
	left := n
	if keeps {
		left -= max(0, taken)
	}
	k.owed.Add(int64(-left))
	return taken
}

// startBulk calls the conduit for b. keeps: it tells of the end of what it has taken.
func (e *Endpoint) startBulk(peer int, b *Bulk) (taken int, keeps bool) {
	switch {
	case b.Key.ID == 0 && b.Stay:
		return e.c.BulkSend(peer, b.wireID(), b.Off, b.Data, nil)
	case b.Key.ID == 0:
		return e.c.BulkSend(peer, b.wireID(), b.Off, b.Data, b)
	case e.remote == nil:
		return -1, false
	case b.Get:
		return e.remote.Get(peer, b.Data, b.Key, b.Off, b), true
	}
	return e.remote.Put(peer, b.Data, b.Key, b.Off, b), true
}

// Completed implements conduit.Completion.
func (b *Bulk) Completed(n int, err error) {
	k := &b.inConduit
	if err != nil {
		k.noteFailure(err)
	}
	if k.owed.Add(int64(-n)) != 0 {
		return
	}
	e := k.e
	e.underway.Add(-1)
	var w *fult.Worker
	if e.InHandler() { // in a poll, and not in the conduit's Close
		w = e.recv.w
	}
	b.tellOwner(w)
}

// noteFailure notes why the Bulk is not sent; the first reason stays.
func (k *bulkInConduit) noteFailure(err error) { k.err.CompareAndSwap(nil, &err) }

// leaveQueue takes b out of the queue. What the conduit still has of it ends it.
func (b *Bulk) leaveQueue(w *fult.Worker) {
	if e := b.inConduit.e; e != nil {
		e.underway.Add(1)
		if b.inConduit.owed.Add(-1) != 0 {
			return
		}
		e.underway.Add(-1)
	}
	b.tellOwner(w)
}

// tellOwner tells the owner.
func (b *Bulk) tellOwner(w *fult.Worker) {
	if err := b.inConduit.err.Load(); err != nil {
		b.Owner.Fail(*err, w)
	} else {
		b.Owner.Sent(w)
	}
}
