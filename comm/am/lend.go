package am

import (
	"sync/atomic"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/spin"
)

// lendMin is the least rest of a Bulk in bytes that is lent to a conduit.Lender: to copy less is cheaper than to wait for it.
const lendMin = 16 << 10

// loan is what of a Bulk a conduit.Lender has, and has not returned.
type loan struct {
	e *Endpoint
	// owed is the bytes that are out, and one for the queue as long as the Bulk is in it. Who brings it to zero ends the Bulk.
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
	if b.loan.e == nil {
		b.loan.e = e
		b.loan.owed.Store(1)
	}
	n := len(b.Data)
	b.loan.owed.Add(int64(n)) // before: they may come back before BulkLend does
	sent := e.lender.BulkLend(peer, b.ID, b.Off, b.Data, b)
	b.loan.owed.Add(int64(max(sent, 0) - n))
	return sent
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

// out tells, when the queue lets go of b, that some of it has not been returned: then it ends with that.
func (b *Bulk) out() bool { return b.loan.e != nil && b.loan.owed.Add(-1) != 0 }

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
		if err := x.loan.err.Load(); err != nil {
			x.Owner.Fail(*err, w)
		} else {
			x.Owner.Sent(w)
		}
	}
	return n
}

// lenderOf is c's BulkLend, or nil.
func lenderOf(c conduit.Conduit) conduit.Lender {
	l, _ := c.(conduit.Lender)
	return l
}
