package am

import (
	"encoding/binary"
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
)

// Bulk is a run of bytes that moves outside the credits.
//
// Without a Key it is sent through the conduit's bulk channel, or, where there is none, in Medium requests. The layer
// that has its Channel at the receiver gets it in pieces of any length, each once, with the offset of its first byte.
// Unless the conduit is ordered they come in any order, also among records, so bytes are counted.
//
// With a Key it is an access to the peer's memory (conduit.Remote), of which the peer is not told.
type Bulk struct {
	next      *Bulk
	inConduit bulkInConduit
	// ID travels with every piece, at most MaxBulkID, and Channel, which names the layer that gets the pieces.
	ID      uint64
	Channel uint8
	Off     int64  // travels with the first byte, or is its place in the peer's memory
	Data    []byte // must not change, and with Get be left alone, until the owner is told
	// From, if it is not nil, packs the bytes in the place of Data: Rest of them, from offset Off on. A Key must be zero.
	From  Packer
	Rest  int
	Key   conduit.Key // names the peer's memory, unless it is zero
	Get   bool        // fetches the bytes at Key into Data; else they are put there
	Stay  bool        // the conduit copies what it takes of Data, so that SwapBulk can replace the rest
	Owner BulkOwner   // told once, when Data has been copied out or moved, or the peer has died
}

// Packer gives bytes that do not lie in one piece of memory. Pack fills dst with those from offset off on. It is called
// by whoever polls, under a lock, for one piece after the other. It must not block, panic, or call the endpoint.
type Packer interface {
	Pack(dst []byte, off int)
}

// Left is how many bytes of b have not been handed on.
func (b *Bulk) Left() int {
	if b.From != nil {
		return b.Rest
	}
	return len(b.Data)
}

// noteHanded notes that the next n bytes have been.
func (b *Bulk) noteHanded(n int) {
	b.Off += int64(n)
	if b.From != nil {
		b.Rest -= n
	} else {
		b.Data = b.Data[n:]
	}
}

// fillNext fills dst with the next bytes of b.
func (b *Bulk) fillNext(dst []byte) {
	if b.From != nil {
		b.From.Pack(dst, int(b.Off))
	} else {
		copy(dst, b.Data)
	}
}

// BulkOwner is told of the end of a Bulk, by whoever polls; w is the polling worker or nil.
type BulkOwner interface {
	Sent(w *fult.Worker)
	Fail(err error, w *fult.Worker)
}

// bulkQueue holds the transfers towards one peer, in order for each of the two ways: the channel, and accesses. Neither
// waits for the other. So a poll looks at what goes, and at one more of each way, however many wait. mu serialises
// copying into the channel, too.
type bulkQueue struct {
	mu    spin.Lock
	waits bool // in Endpoint.bulkBusy
	lists [2]bulkList
}

// The ways of bulk data.
const (
	overChannel = iota
	byAccess
)

// bulkList is a queue of transfers, linked through them.
type bulkList struct{ head, tail *Bulk }

func (l *bulkList) pushBulk(b *Bulk) {
	b.next = nil
	if l.head == nil {
		l.head = b
	} else {
		l.tail.next = b
	}
	l.tail = b
}

// popBulk takes out the first, which there is.
func (l *bulkList) popBulk() *Bulk {
	b := l.head
	l.head, b.next = b.next, nil
	if l.head == nil {
		l.tail = nil
	}
	return b
}

func (q *bulkQueue) isEmpty() bool {
	return q.lists[overChannel].head == nil && q.lists[byAccess].head == nil
}

// PutBulk queues b towards peer. It returns at once; polling moves the bytes.
func (e *Endpoint) PutBulk(peer int, b *Bulk) {
	q := &e.senderOf(peer).bulk
	q.mu.Lock()
	l := &q.lists[b.chooseWay()]
	if b.Key.ID != 0 && l.head == nil && e.beginAccess(peer, b) {
		q.mu.Unlock()
		return
	}
	l.pushBulk(b)
	if !q.waits {
		q.waits = true
		e.bulkBusy.addPeer(peer)
	}
	q.mu.Unlock()
	e.prog.Wake()
}

// SwapBulk calls f with the Bulk of owner, which has Stay set, while it is still queued towards peer, and reports
// whether it was. f may give it another Owner, and other Data, a copy of the same bytes from Off on. Nothing is sent
// meanwhile.
func (e *Endpoint) SwapBulk(peer int, owner BulkOwner, f func(*Bulk)) bool {
	q := &e.senderOf(peer).bulk
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lists {
		for b := l.head; b != nil; b = b.next {
			if b.Owner == owner && b.Stay {
				f(b)
				return true
			}
		}
	}
	return false
}

// pumpBulk is called with the queue locked and unlocks it.
func (e *Endpoint) pumpBulk(q *bulkQueue, peer int, w *fult.Worker) (n int) {
	var done bulkList
	for i := range q.lists {
		n += e.pumpWay(&q.lists[i], peer, &done)
	}
	q.mu.Unlock()
	for done.head != nil {
		done.popBulk().leaveQueue(w)
	}
	return n
}

// pumpWay moves the transfers of one way, as far as there is room. Those that have been moved go to done.
func (e *Endpoint) pumpWay(l *bulkList, peer int, done *bulkList) (n int) {
	for l.head != nil {
		b := l.head
		sent := e.bulkSend(peer, b)
		n += max(0, min(1, sent))
		if sent < 0 {
			b.inConduit.noteFailure(e.PeerError(peer))
		} else if b.Left() > 0 {
			return n
		}
		done.pushBulk(l.popBulk())
	}
	return n
}

// wireID is what travels with the pieces.
func (b *Bulk) wireID() uint64 { return uint64(b.Channel)<<channelShift | b.ID&MaxBulkID }

// chooseWay is which of the two ways b takes.
func (b *Bulk) chooseWay() int {
	if b.Key.ID != 0 {
		return byAccess
	}
	return overChannel
}

// bulkSend moves the next piece or pieces of b and returns how many bytes went, -1 if the peer is dead.
func (e *Endpoint) bulkSend(peer int, b *Bulk) int {
	if b.Left() == 0 {
		return 0
	}
	if e.closed.Load() {
		return -1
	}
	n := e.handBulk(peer, b)
	if n > 0 {
		b.noteHanded(n)
	}
	return n
}

// handBulk gives the conduit what it takes of b.
func (e *Endpoint) handBulk(peer int, b *Bulk) int {
	switch {
	case b.Key.ID != 0:
		return e.giveBulk(peer, b)
	case !e.hasBulk:
		return e.sendFragment(peer, b)
	case b.From != nil:
		return e.packChunks(peer, b)
	}
	return e.giveBulk(peer, b)
}

// beginAccess starts an access with none before it in its queue, which is locked; false if the rest is to be queued.
func (e *Endpoint) beginAccess(peer int, b *Bulk) bool {
	n := len(b.Data)
	if n == 0 || e.remote == nil || e.closed.Load() {
		return false
	}
	b.inConduit.e = e
	b.inConduit.owed.Store(int64(n)) // of the conduit alone
	e.underway.Add(1)
	taken, _ := e.startBulk(peer, b)
	if taken == n {
		return true
	}
	taken = max(0, taken)
	e.underway.Add(-1)
	b.inConduit.owed.Add(int64(taken-n) + 1)
	b.noteHanded(taken)
	return false
}

// packChunks has b packed into the chunks of the channel that are free; -1 if the peer is dead.
func (e *Endpoint) packChunks(peer int, b *Bulk) (n int) {
	for n < b.Rest {
		space, st := e.c.BulkReserve(peer, b.Rest-n)
		if st == conduit.Dead {
			return -1
		}
		if st != conduit.OK {
			break
		}
		b.From.Pack(space, int(b.Off)+n)
		e.c.BulkCommit(peer, b.wireID(), b.Off+int64(n), len(space))
		n += len(space)
	}
	return n
}

// sendFragment sends a piece of b as a Medium request.
func (e *Endpoint) sendFragment(peer int, b *Bulk) int {
	n := min(b.Left(), e.maxMedium)
	body, first, o := e.Open(peer, handlerFragment, 2, n)
	switch o {
	case Stalled:
		e.Abandon(peer)
		return 0
	case Failed:
		return -1
	}
	binary.LittleEndian.PutUint64(body, b.wireID())
	binary.LittleEndian.PutUint64(body[8:], uint64(b.Off))
	b.fillNext(body[16 : 16+n])
	e.Commit(peer, first)
	return n
}

// bulkArrived gives a piece to the layer that has the channel in its id.
func (e *Endpoint) bulkArrived(src int, id uint64, off int64, chunk []byte) {
	f := e.bulks[id>>channelShift]
	if f == nil {
		e.Fault(fmt.Errorf("am: rank %d: %d bytes of bulk data from rank %d on channel %d, which no layer has",
			e.rank, len(chunk), src, id>>channelShift))
		return
	}
	f(src, id&MaxBulkID, off, chunk, e.recv.w)
}

func wordAt(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i*8:]) }

// Handlers of the layer's own.
const (
	handlerCredit   = lastHandler - 2 + iota // a system message of the ledger
	handlerFragment                          // a piece of a Bulk
	handlerNothing                           // carries only its header: a reply that was not given, returned credits
)

// attachInternal attaches what this package needs itself.
func (e *Endpoint) attachInternal() error {
	return e.Attach(Layer{
		Name: "am", First: handlerCredit, Channel: channelLongs, Bulk: e.recv.longChunk,
		Handlers: []Spec{
			{Name: "credit", MaxReply: NoReply, Run: e.onCredit},
			{Name: "fragment", MaxReply: NoReply, Run: func(t *Token, a []uint64, p []byte) {
				if len(a) == 2 {
					e.bulkArrived(t.src, a[0], int64(a[1]), p)
				}
			}},
			{Name: "nothing", MaxReply: NoReply, Run: func(*Token, []uint64, []byte) {}},
		},
	})
}
