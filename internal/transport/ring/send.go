package ring

import (
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
)

func (e *Endpoint) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if uint(peer) >= uint(len(e.out)) || uint(n)-conduit.WordBytes > uint(e.g.MaxRecord-conduit.WordBytes) {
		return nil, conduit.Dead
	}
	o := e.out[peer]
	if o == nil || e.fails.Has(peer) {
		return nil, conduit.Dead
	}
	if space := o.prod.reserveBytes(class, n); space != nil {
		return space, conduit.OK
	}
	return nil, e.refused(o, peer)
}

func (e *Endpoint) refused(o *outgoing, peer int) conduit.Status {
	if o.prod.corrupt {
		e.Fail(peer, conduit.ErrCorrupt, "progress counter of the ring towards it")
		return conduit.Dead
	}
	return conduit.Retry
}

func (e *Endpoint) Commit(peer int, first uint64) {
	o := e.to(peer)
	if o == nil {
		return
	}
	e.leaveTo()
	o.prod.publishOpen(first, !e.g.Scan)
	o.announce()
	if o.prod.dirty() {
		o.prod.cleanAhead()
	}
}

// BulkSend implements conduit.Conduit. It copies.
func (e *Endpoint) BulkSend(peer int, id uint64, off int64, data []byte, _ conduit.Completion) (n int, kept bool) {
	o := e.to(peer)
	if o == nil || e.fails.Has(peer) {
		return -1, false
	}
	if e.g.Chunk == 0 || len(data) == 0 {
		return 0, false
	}
	e.leaveTo()
	n, ok := o.bulk.sendLeading(id, off, data)
	if !ok {
		e.failBulk(peer)
		return -1, false
	}
	if n > 0 {
		o.announceBulk()
	}
	return n, false
}

func (e *Endpoint) BulkReserve(peer, n int) ([]byte, conduit.Status) {
	o := e.to(peer)
	if o == nil || e.fails.Has(peer) {
		return nil, conduit.Dead
	}
	if e.g.Chunk == 0 || n <= 0 {
		return nil, conduit.Retry
	}
	space, ok := o.bulk.reserveSlot(n)
	switch {
	case !ok:
		e.failBulk(peer)
		return nil, conduit.Dead
	case space == nil:
		return nil, conduit.Retry
	}
	return space, conduit.OK
}

func (e *Endpoint) BulkCommit(peer int, id uint64, off int64, n int) {
	o := e.to(peer)
	if o == nil || n <= 0 || n > o.bulk.reserved {
		return
	}
	e.leaveTo()
	o.bulk.commit(id, off, n)
	o.announceBulk()
}

func (e *Endpoint) failBulk(peer int) {
	e.Fail(peer, conduit.ErrCorrupt, "progress counter of the bulk channel towards it")
}

func (o *outgoing) announceBulk() {
	if !o.seg.g.Scan {
		fence(o.bulk.sent)
	}
	o.announce()
}

// hookPublished, set by tests, runs between publication and announcement.
var hookPublished func()

// fence is a full fence: an addition of nothing to a word that the caller has in its cache.
func fence(w *atomic.Uint64) { w.Add(0) }

// announce tells the peer that something was published. If the peer scans its rings, the publication was only a
// release store, and these loads may run ahead of it. The sleeper corrects that with a fence on all cores before its
// last look.
func (o *outgoing) announce() {
	if invariants.Enabled && hookPublished != nil {
		hookPublished()
	}
	if o.seg.g.Scan {
		if o.seg.senders.Load()&(1<<o.index) == 0 {
			o.seg.senders.Or(1 << o.index)
		}
	} else {
		o.seg.mail.setMail(o.index)
	}
	if o.seg.bell.Load() != 0 {
		o.ring()
	}
}

func (o *outgoing) ring() {
	if o.seg.bell.CompareAndSwap(1, 0) {
		o.bell.Ring(o.seg.bell)
	}
}
