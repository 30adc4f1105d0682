package am

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/arch"
	"github.com/golci/golci/internal/transport/credit"
)

// receiver is the polling side. All of it is owned by the holder of Endpoint.pollMu.
type receiver struct {
	e       *Endpoint
	w       *fult.Worker // the polling worker, or nil
	tok     Token
	ledger  *credit.Ledger
	notices []creditNotice
	owing   []int32 // peers that are owed credits
	idle    int     // polls in a row without news
	take    receiveState
	longs   partialLongs

	quick     FastReceiver // nil if no layer has one; set before traffic
	commonest uint64       // the first word of records for it, without the length
}

// creditNotice is what the poller keeps of one peer beside its loan, in one byte, since there is one for each rank.
type creditNotice uint8

const (
	isListed creditNotice = 1 << iota // in owing
	throttles
	hasWords // sender.words; here for the poller, because the sender's lines belong to senders
)

func (t creditNotice) is(f creditNotice) bool { return t&f != 0 }

func (r *receiver) initSenders(e *Endpoint) (err error) {
	r.e = e
	r.tok.e, r.longs = e, partialLongs{}
	r.notices = make([]creditNotice, len(e.senders))
	for i := range r.notices {
		if e.c.Mine(i) != nil {
			r.notices[i] = hasWords
		}
	}
	if r.ledger, err = credit.NewLedger(e.terms, e.rank, len(e.senders)); err != nil {
		return err
	}
	r.ledger.SetBusy(func(peer int) bool { return e.c.Failed(peer) != nil || r.notices[peer].is(hasWords) && !e.words })
	return nil
}

// source is the endpoint as progress.Source.
type source struct{ e *Endpoint }

// Poll implements progress.Source.
func (s source) Poll(w *fult.Worker) int { return s.e.pollOnce(w) }

// Poll handles what has arrived and sends what is queued, a bounded amount, and returns how much it did; -1 if another
// caller is polling. It does not block. Handlers run inside it.
func (e *Endpoint) Poll() int {
	if e.InHandler() || e.guard != nil {
		if err := e.Allow(CallPoll); err != nil {
			e.Fault(err)
			return 0
		}
	}
	return e.prog.Poll()
}

func (e *Endpoint) pollOnce(w *fult.Worker) int {
	n := 0
	if e.c.Pending() || e.chores.Load() != 0 {
		if n = e.pollConduit(w); n < 0 {
			return -1
		}
	}
	return n + e.moveWaiting(w)
}

// moveWaiting sends what waits, as far as there is room; the result is how much that was.
func (e *Endpoint) moveWaiting(w *fult.Worker) (n int) {
	if e.stalled.n.Load() > 0 {
		n += e.pumpAll(w)
	}
	if e.bulkBusy.n.Load() > 0 {
		n += e.pumpBulks(w)
	}
	if e.held.Load() > 0 {
		for _, f := range e.helds {
			n += f(w)
		}
	}
	return n
}

// Hold says that a layer holds n messages more back, or fewer. While there are any, polls call its Held, and no poller
// sleeps for long.
func (e *Endpoint) Hold(n int32) { e.held.Add(n) }

// pollConduit polls the conduit and does the poller's chores; -1 if another caller is at it.
func (e *Endpoint) pollConduit(w *fult.Worker) int {
	if !e.pollMu.TryLock() {
		return -1
	}
	r := &e.recv
	r.w = w
	e.enterHandlers()
	n := e.c.Poll(e.cfg.Poll, r)
	e.leaveHandlers()
	if n > 0 {
		r.idle = 0
	} else if r.idle++; r.idle >= idlePollsToTell && (r.idle >= idlePollsToSend || r.e.words) {
		r.tellAll()
	}
	for _, f := range e.ticks {
		f(w)
	}
	e.pollMu.Unlock()
	return n
}

// pollReason is a reason to poll though nothing has arrived.
type pollReason = uint32

const (
	choreOwing pollReason = 1 << iota // peers are owed credits
	choreTick                         // an upper layer wants its tick
)

// WantTick says whether each poll calls the tick functions, or only those that may find something. The poller calls it.
func (e *Endpoint) WantTick(on bool) { e.setChore(choreTick, on) }

// setChore is called by the poller only.
func (e *Endpoint) setChore(c pollReason, on bool) {
	v := e.chores.Load()
	if on == (v&c != 0) {
		return
	}
	arch.StoreRel32(&e.chores, v^c)
}

// offerQuickly offers a record to the layer that takes requests quickly, if it is of the commonest kind: one look at
// the first word tells that. Credits then travel in words beside the records: this one brings none and asks for none.
func (r *receiver) offerQuickly(src int, rec []byte) bool {
	if len(rec) < headerBytes+argBytes {
		return false
	}
	p := (*[3]uint64)(unsafe.Pointer(unsafe.SliceData(rec)))
	h := header{p[0], p[1]}
	if h.w0 != r.commonest|uint64(len(rec)) || r.quick == nil || !r.e.words || r.e.guard != nil {
		return false
	}
	cost, payload := h.cost(), rec[headerBytes+argBytes:]
	if h.asks() || cost != credit.Cost(len(rec)) || !r.quick.RecvQuickly(src, h.seq(), p[2], payload, r.w) {
		return false
	}
	r.freeSpace(src, cost)
	return true
}

// Record implements conduit.Sink.
func (r *receiver) Record(src int, rec []byte) {
	if r.offerQuickly(src, rec) {
		return
	}
	e := r.e
	h, ok := parseHeader(rec)
	if !ok {
		e.Fault(fmt.Errorf("am: rank %d: malformed record of %d bytes from rank %d", e.rank, len(rec), src))
		return
	}
	if !e.words {
		r.hearCredits(src, h)
	}
	if h.asks() {
		r.hearEpoch(src, h)
	}
	spec := &e.specs[h.handler()]
	if spec.Run == nil {
		e.Fault(fmt.Errorf("%w: rank %d: index %d, in a message from rank %d", ErrHandler, e.rank, h.handler(), src))
		return
	}
	t := &r.tok
	t.w, t.src, t.seq = r.w, src, h.seq()
	t.reply, t.answer, t.replied = h.flags()&flagReply != 0, h.flags()&flagAnswer != 0, false
	t.maxReply = spec.MaxReply
	payload := rec[headerBytes+h.nargs()*argBytes : h.length()]
	if h.flags()&flagLong != 0 {
		r.serveLong(spec, h, argsOf(rec, h.nargs()), payload)
	} else {
		if e.guard == nil { // as in runHandler, without the call
			spec.Run(t, argsOf(rec, h.nargs()), payload)
		} else {
			e.runGuarded(spec, t, argsOf(rec, h.nargs()), payload)
		}
	}
	if t.reply {
		e.releaseReply(src, int(h.seq())*8)
		return
	}
	if t.answer && !t.replied {
		t.sendReply(handlerNothing, nil, message{})
	}
	if h.cost() > 0 {
		r.freeSpace(src, h.cost())
	}
}

// freeSpace notes that a request's space is free again, and tells the peer if the debt is due.
func (r *receiver) freeSpace(src, cost int) {
	if r.ledger.Freed(src, cost) {
		r.tellReturned(src)
		return
	}
	if l := &r.notices[src]; !l.is(isListed) {
		*l |= isListed
		r.owing = append(r.owing, int32(src))
		r.e.setChore(choreOwing, true)
	}
}

// tellReturned publishes what src has got back.
func (r *receiver) tellReturned(src int) {
	r.e.tellCredits(src, r.ledger.Note(src), r.notices[src].is(throttles))
	if !r.notices[src].is(hasWords) {
		r.e.sendReturn(src)
	}
}

// tellAll pays all debts: when there is nothing else to do.
func (r *receiver) tellAll() {
	for _, p := range r.owing {
		r.notices[p] &^= isListed
		if r.ledger.Owed(int(p)) > 0 {
			r.tellReturned(int(p))
		}
	}
	r.owing = r.owing[:0]
	r.e.setChore(choreOwing, false)
}

// hearCredits takes in what a record says of returned credits, if there is no word from its sender. Sends to that peer
// take it from the sender when they need credits. Record reads one flag only where all peers have words.
func (r *receiver) hearCredits(src int, h header) {
	if r.notices[src].is(hasWords) {
		return
	}
	word := r.e.senderOf(src).theirs
	old := word.Load()
	note, late := credit.Later32(uint32(old), h.toldCredits())
	w := uint64(note)
	if h.flags()&flagThrottle != 0 {
		w |= wordThrottle
	}
	if late { // overtaken by a later one
		w = w&^wordThrottle | old&wordThrottle
	}
	if w != old {
		word.Store(w)
	}
}

// Throttle asks peer to send no more unmatched eager bytes, or allows it again. Only handlers and ticks may call it.
func (e *Endpoint) Throttle(peer int, on bool) {
	r := &e.recv
	if r.notices[peer].is(throttles) != on {
		r.notices[peer] ^= throttles
		r.tellReturned(peer)
	}
}

// Bulk implements conduit.Sink.
func (r *receiver) Bulk(src int, id uint64, off int64, chunk []byte) {
	r.e.bulkArrived(src, id, off, chunk)
}
