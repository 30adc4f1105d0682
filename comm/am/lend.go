package am

import (
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/spin"
)

// lendMin is the least rest of a Bulk in bytes that is lent to a conduit.Lender: to copy less is cheaper than to wait
// for it.
const lendMin = 16 << 10

// loan is what of a Bulk a conduit.Lender has, and has not returned.
type loan struct {
	e *Endpoint
	// owed is the bytes that are out, and one for the queue as long as the Bulk is in it. Who brings it to zero ends
	// the Bulk.
	owed atomic.Int64
	err  atomic.Pointer[error]
}

// returned holds the Bulks that came back whole, until somebody polls.
type returned struct {
	n    atomic.Int32 // as far as one look can tell
	mu   spin.Lock
	head *Bulk // guarded by mu
}

// lend gives the conduit what it takes of b; the queue is locked. -1 if the peer is dead.
func (e *Endpoint) lend(peer int, b *Bulk) int {
	n := len(b.Data)
	b.loan.begin(e, n)
	return b.loan.began(n, e.lender.BulkLend(peer, b.wireID(), b.Off, b.Data, b))
}

// access has the conduit begin what it takes of an access; the queue is locked. -1 if the peer is dead.
func (e *Endpoint) access(peer int, b *Bulk) int {
	if e.remote == nil {
		return -1
	}
	n := len(b.Data)
	b.loan.begin(e, n)
	return b.loan.began(n, e.start(peer, b))
}

// start calls the conduit for an access.
func (e *Endpoint) start(peer int, b *Bulk) int {
	if b.Get {
		return e.remote.Get(peer, b.Data, b.Key, b.Off, b)
	}
	return e.remote.Put(peer, b.Data, b.Key, b.Off, b)
}

// begin counts n bytes as the conduit's, before it gets them: they may come back before its call does.
func (l *loan) begin(e *Endpoint, n int) {
	if l.e == nil {
		l.e = e
		l.owed.Store(1)
	}
	l.owed.Add(int64(n))
}

// began corrects that when the conduit has taken so many, which it returns.
func (l *loan) began(n, taken int) int {
	l.owed.Add(int64(max(taken, 0) - n))
	return taken
}

// Completed implements conduit.Completion.
func (b *Bulk) Completed(n int, err error) {
	l := &b.loan
	if err != nil {
		l.fail(err)
	}
	if l.owed.Add(int64(-n)) != 0 {
		return
	}
	e := l.e
	e.underway.Add(-1)
	var w *fult.Worker
	if e.InHandler() { // in a poll, and not in the conduit's Close
		w = e.recv.w
	}
	b.end(w)
}

// Returned implements conduit.Loan.
func (b *Bulk) Returned(n int, err error) {
	l := &b.loan
	if err != nil {
		l.fail(err)
	}
	if l.owed.Add(int64(-n)) != 0 {
		return
	}
	e := l.e
	r := &e.returned
	r.mu.Lock()
	b.next, r.head = r.head, b
	r.n.Add(1)
	r.mu.Unlock()
	if e.closed.Load() { // nobody may poll any more; Close looks at the list after it has set closed
		e.endReturned(nil)
		return
	}
	e.prog.Wake()
}

// fail notes why the Bulk is not sent; the first reason stays.
func (l *loan) fail(err error) { l.err.CompareAndSwap(nil, &err) }

// leave has the queue let go of b. What the conduit still has of it ends it.
func (b *Bulk) leave(w *fult.Worker) {
	if e := b.loan.e; e != nil {
		e.underway.Add(1)
		if b.loan.owed.Add(-1) != 0 {
			return
		}
		e.underway.Add(-1)
	}
	b.end(w)
}

// end tells the owner.
func (b *Bulk) end(w *fult.Worker) {
	if err := b.loan.err.Load(); err != nil {
		b.Owner.Fail(*err, w)
	} else {
		b.Owner.Sent(w)
	}
}

// endReturned tells the owners of what has come back, and returns how many.
func (e *Endpoint) endReturned(w *fult.Worker) (n int) {
	r := &e.returned
	r.mu.Lock()
	b := r.head
	r.head = nil
	r.n.Store(0)
	r.mu.Unlock()
	for ; b != nil; n++ {
		x := b
		b, x.next = b.next, nil
		e.underway.Add(-1)
		x.end(w)
	}
	return n
}

// lenderOf is c's BulkLend, or nil.
func lenderOf(c conduit.Conduit) conduit.Lender {
	l, _ := c.(conduit.Lender)
	return l
}
