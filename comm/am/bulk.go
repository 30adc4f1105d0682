package am

import (
	"encoding/binary"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/spin"
)

// Bulk is a run of bytes to be sent outside the credits, through the conduit's bulk channel, or, where there is none,
// in Medium requests. The receiver's bulk function gets it in pieces of any length, each once, with the offset of its first
// byte; unless the conduit is ordered they come in any order, before or after the records sent with them. Where all have
// come is therefore found by counting bytes.
type Bulk struct {
	next *Bulk
	loan loan
	// ID travels with every piece; its top bit is reserved.
	ID uint64
	// Off is the offset that travels with the first byte.
	Off int64
	// Data must not change until the owner is told.
	Data []byte
	// Stay keeps Data from being lent to the conduit, so that SwapBulk can replace it at any time.
	Stay bool
	// Owner is told, once, when all of Data has been copied out or the peer has died.
	Owner BulkOwner
}

// BulkOwner is told of the end of a Bulk, by whoever polls; w is the polling worker or nil.
type BulkOwner interface {
	Sent(w *fult.Worker)
	Fail(err error, w *fult.Worker)
}

// bulkQueue holds the transfers towards one peer, in order. mu serialises copying into the channel, too.
type bulkQueue struct {
	mu         spin.Lock
	waits      bool // in Endpoint.bulkBusy
	head, tail *Bulk
}

// OnBulk sets the function that gets the pieces that arrive; it runs inside the poll. Call it before traffic.
func (e *Endpoint) OnBulk(f func(src int, id uint64, off int64, chunk []byte, w *fult.Worker)) {
	e.bulkFn = f
}

// PutBulk queues b towards peer. It returns at once; polling moves the bytes.
func (e *Endpoint) PutBulk(peer int, b *Bulk) {
	q := &e.lanes[peer].bulk
	b.next = nil
	q.mu.Lock()
	if q.head == nil {
		q.head = b
		if !q.waits {
			q.waits = true
			e.bulkBusy.add(peer)
		}
	} else {
		q.tail.next = b
	}
	q.tail = b
	q.mu.Unlock()
	e.prog.Wake()
}

// SwapBulk calls f with the Bulk of owner, which has Stay set, while it is still queued towards peer, and reports whether
// it was. f may give it another Owner, and other Data: a copy of the same bytes, from Off on. Nothing is sent meanwhile.
func (e *Endpoint) SwapBulk(peer int, owner BulkOwner, f func(*Bulk)) bool {
	q := &e.lanes[peer].bulk
	q.mu.Lock()
	defer q.mu.Unlock()
	for b := q.head; b != nil; b = b.next {
		if b.Owner == owner && b.Stay {
			f(b)
			return true
		}
	}
	return false
}

// pumpBulk is called with the queue locked and unlocks it.
func (e *Endpoint) pumpBulk(q *bulkQueue, peer int, w *fult.Worker) (n int) {
	var done *Bulk
	last := &done
	dead := false
	for b := q.head; b != nil; b = q.head {
		sent := e.bulkSend(peer, b)
		if dead = sent < 0; dead {
			b.loan.fail(e.peerError(peer))
		}
		if !dead {
			n += min(1, sent)
			b.Off += int64(sent)
			b.Data = b.Data[sent:]
			if len(b.Data) > 0 {
				break
			}
		}
		q.head = b.next
		b.next = nil
		if !b.out() {
			*last, last = b, &b.next
		}
	}
	if q.head == nil {
		q.tail = nil
	}
	q.mu.Unlock()
	for done != nil {
		b := done
		done = b.next
		b.next = nil
		if err := b.loan.err.Load(); err != nil {
			b.Owner.Fail(*err, w)
		} else {
			b.Owner.Sent(w)
		}
	}
	return n
}

// bulkSend sends the next piece or pieces of b and returns how many bytes went, -1 if the peer is dead.
func (e *Endpoint) bulkSend(peer int, b *Bulk) int {
	if len(b.Data) == 0 {
		return 0
	}
	if e.closed.Load() {
		return -1
	}
	if e.lender != nil && !b.Stay && len(b.Data) >= lendMin && e.lender.LendsTo(peer) {
		return e.lend(peer, b)
	}
	if e.hasBulk {
		return e.c.BulkSend(peer, b.ID, b.Off, b.Data)
	}
	return e.fragment(peer, b)
}

// fragment sends a piece of b as a Medium request.
func (e *Endpoint) fragment(peer int, b *Bulk) int {
	n := min(len(b.Data), e.maxMedium)
	body, first, o := e.Open(peer, handlerFragment, 2, n)
	switch o {
	case Stalled:
		e.Abandon(peer)
		return 0
	case Failed:
		return -1
	}
	binary.LittleEndian.PutUint64(body, b.ID)
	binary.LittleEndian.PutUint64(body[8:], uint64(b.Off))
	copy(body[16:], b.Data[:n])
	e.Commit(peer, first)
	return n
}

// bulkArrived gives a piece to whom it belongs.
func (e *Endpoint) bulkArrived(r *receiver, src int, id uint64, off int64, chunk []byte) {
	if id&longBit != 0 {
		r.longChunk(src, id, off, chunk)
		return
	}
	if e.bulkFn != nil {
		e.bulkFn(src, id, off, chunk, r.w)
	}
}

func word(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i*8:]) }

// Handlers of the layer's own.
const (
	handlerNothing  = 255 // carries only its header: a reply that was not given, returned credits
	handlerFragment = 254 // a piece of a Bulk
	handlerCredit   = 253 // a system message of the ledger
)

func (e *Endpoint) registerInternal() error {
	nothing := Spec{Name: "nothing", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}}
	fragment := Spec{Name: "fragment", MaxReply: NoReply, Run: func(t *Token, a []uint64, p []byte) {
		if len(a) == 2 {
			e.bulkArrived(&e.recv, t.src, a[0], int64(a[1]), p)
		}
	}}
	if err := e.Register(handlerNothing, nothing); err != nil {
		return err
	}
	if err := e.Register(handlerFragment, fragment); err != nil {
		return err
	}
	return e.Register(handlerCredit, Spec{Name: "credit", MaxReply: NoReply, Run: e.onCredit})
}
