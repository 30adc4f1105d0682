package am

import "github.com/golci/golci/conduit"

// A caller that waits for one message of one sender may take its record from the conduit itself, without a handler,
// quicker than by a poll. It takes the next record of the pair only, so nothing is overtaken.

// receiveState is how records are taken. wanted is guarded by Endpoint.pollMu; the other fields never change.
type receiveState struct {
	from   conduit.Taker // nil if records cannot be taken
	h      uint8         // of the handler whose requests may be taken
	inTurn func(src int, seq uint16) bool
	row    uint32 // records taken; pollMu
	wanted struct {
		arg uint64
		buf []byte
		n   int
	}
}

const takenInRow = 16 // of these records one is left to a poll, which serves all senders

// OnTake allows requests of handler h to be taken that have one argument and a payload. inTurn is asked, under the
// poll lock, whether the one with that number is next; if so it is taken. It is to be called before traffic. Where
// peers return credits in records nothing is taken, since each record has to be looked at for them.
func (e *Endpoint) OnTake(h uint8, inTurn func(src int, seq uint16) bool) {
	if t, ok := e.c.(conduit.Taker); ok && e.words {
		e.recv.take = receiveState{from: t, h: h, inTurn: inTurn}
	}
}

// Takes reports whether records can be taken.
func (e *Endpoint) Takes() bool { return e.recv.take.from != nil && e.guard == nil }

// Next reports whether a record of src seems to wait. Takes must be true.
func (e *Endpoint) Next(src int) bool { return e.recv.take.from.Next(src) }

// TakeNext takes the next record of src if it is a request as OnTake says, with that argument and a payload that fits
// into buf. It copies the payload and gives its length. It never blocks. Takes must be true.
func (e *Endpoint) TakeNext(src int, arg uint64, buf []byte) (n int, ok bool) {
	if !e.pollMu.TryLock() {
		return 0, false
	}
	t := &e.recv.take
	if t.row++; t.row%takenInRow != 0 {
		t.wanted.arg, t.wanted.buf = arg, buf
		ok = t.from.Take(src, &e.recv)
		n, t.wanted.buf = t.wanted.n, nil
	}
	e.pollMu.Unlock()
	return n, ok
}

// Accept implements conduit.Acceptor.
func (r *receiver) Accept(src int, rec []byte) bool {
	t := &r.take
	h, ok := parseHeader(rec)
	if !ok || h.handler() != t.h || h.nargs() != 1 || h.flags()&^flagMedium != flagOrdered || h.asks() {
		return false
	}
	payload := rec[headerBytes+argBytes : h.length()]
	if argsOf(rec, 1)[0] != t.wanted.arg || len(payload) > len(t.wanted.buf) || !t.inTurn(src, h.seq()) {
		return false
	}
	t.wanted.n = copy(t.wanted.buf, payload)
	if h.cost() > 0 {
		r.freeSpace(src, h.cost())
	}
	return true
}
