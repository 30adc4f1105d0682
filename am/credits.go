package am

import (
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/credit"
)

// setTerms works out on what terms credits are lent.
func (e *Endpoint) setTerms() {
	e.terms = e.cfg.Credits
	if e.terms.PerPeer == 0 {
		e.terms = credit.Config{Mode: credit.Fixed, PerPeer: e.cfg.Loan}
		if e.cfg.Loan == 0 {
			e.terms.PerPeer = credit.Static(e.c.Size())
		}
	}
	e.terms.Narrow = !e.words // one bound for all loans, so that what is lent does not depend on where a peer is
}

// Terms are the terms on which this rank and its peers lend.
func (e *Endpoint) Terms() credit.Config { return e.terms }

// noteStall notes that x, first in the queue, waits for credits, and asks for what is missing, once. The pair is
// locked.
func (e *Endpoint) noteStall(ln *sender, peer int, x Queued) {
	if ln.short == 0 || ln.counted == x {
		return
	}
	ln.counted = x
	if a, ask := ln.credit.Stall(int(ln.short)); ask {
		e.sendCredit(ln, peer, credit.Ask, a)
	}
	ln.short = 0
}

// Hint tells that want credits (256 bytes each) will be needed towards each of peers, and may be lent beforehand. It
// does nothing where loans do not change. It neither blocks nor switches threads. Ranks outside the job are ignored.
func (e *Endpoint) Hint(want int, peers ...int) {
	if e.terms.Mode != credit.Dynamic {
		return
	}
	for _, p := range peers {
		if uint(p) >= uint(len(e.senders)) || p == e.rank {
			continue
		}
		ln := e.senderOf(p)
		ln.mu.Lock()
		if a, ask := ln.credit.Hint(want); ask && !ln.dead {
			e.sendCredit(ln, p, credit.Ask, a)
		}
		ln.mu.Unlock()
	}
}

// sendCredit sends a system message of the ledger, or queues it. The pair is locked.
func (e *Endpoint) sendCredit(ln *sender, peer int, kind credit.Kind, a credit.Args) {
	if !ln.words {
		ln.credit.Stamp(&a, e.recv.ledger.Epoch())
	}
	args := [...]uint64{uint64(kind), uint64(uint32(a[0])), uint64(uint32(a[1])), uint64(uint32(a[2]))}
	r := reply{e: e, dst: peer, class: conduit.System, h: handlerCredit, args: args[:]}
	r.sendReply(ln)
}

// hearEpoch takes in what a record says beside its cost: the end of an epoch of the sender, and a want of credits.
func (r *receiver) hearEpoch(src int, h header) {
	f := h.credits()
	if f.Epoch() {
		ln := r.e.senderOf(src)
		ln.mu.Lock()
		ln.credit.Epochs(1)
		ln.mu.Unlock()
	}
	if r.ledger.Need(src, f.Need()) > 0 {
		r.tellReturned(src)
	}
	r.sendMessages()
}

// sendMessages sends what the ledger wants sent.
func (r *receiver) sendMessages() {
	for _, m := range r.ledger.Messages() {
		ln := r.e.senderOf(m.Peer)
		if r.notices[m.Peer].is(hasWords) { // it has to be as new as the message
			r.e.tellCredits(m.Peer, r.ledger.Note(m.Peer), r.notices[m.Peer].is(throttles))
		}
		ln.mu.Lock()
		r.e.sendCredit(ln, m.Peer, m.Kind, m.Args)
		ln.mu.Unlock()
	}
}

// onCredit serves a system message of a peer's ledger or borrower.
func (e *Endpoint) onCredit(t *Token, args []uint64, _ []byte) {
	if len(args) != 4 {
		e.Fault(fmt.Errorf("am: rank %d: malformed credit message from rank %d", e.rank, t.src))
		return
	}
	a := credit.Args{int32(args[1]), int32(args[2]), int32(args[3])}
	if err := e.recv.credit(t.src, credit.Kind(args[0]), a); err != nil {
		e.Fault(fmt.Errorf("am: rank %d, peer %d: %w", e.rank, t.src, err))
	}
}

func (r *receiver) credit(src int, kind credit.Kind, a credit.Args) error {
	if kind == credit.Revoke {
		return r.giveRevoked(src, a)
	}
	if a[1] != 0 {
		ln := r.e.senderOf(src)
		ln.mu.Lock()
		ln.credit.Epochs(int(a[1]))
		ln.mu.Unlock()
	}
	switch kind {
	case credit.Return:
		return r.ledger.Returned(src, a)
	case credit.Ask:
		if r.ledger.Asked(src, a) > 0 {
			r.tellReturned(src)
		}
		r.sendMessages()
		return nil
	}
	return fmt.Errorf("%w: message of kind %d", credit.ErrProtocol, kind)
}

// giveRevoked gives credits back that the peer asks for.
func (r *receiver) giveRevoked(src int, a credit.Args) error {
	e, ln := r.e, r.e.senderOf(src)
	ln.mu.Lock()
	defer ln.mu.Unlock()
	e.refreshCredits(ln, src)
	back, err := ln.credit.Revoke(&e.terms, a)
	if err == nil {
		e.sendCredit(ln, src, credit.Return, back)
	}
	return err
}

// CreditReport is what a rank knows of its credits.
type CreditReport struct {
	Mode   credit.Mode
	Banked int
	Stats  credit.Stats
	Peers  []PeerCredit // by rank
}

// PeerCredit is one pair, both ways.
type PeerCredit struct {
	Lent     credit.Lent     // by this rank to the peer
	Borrowed credit.Borrowed // the other way
}

// Credits reports the credits of this rank. It waits for a poll that is under way, so handlers must not call it.
func (e *Endpoint) Credits() CreditReport {
	e.pollMu.Lock()
	g := e.recv.ledger
	rep := CreditReport{Mode: e.terms.Mode, Banked: g.Banked(), Stats: g.Stats()}
	rep.Peers = make([]PeerCredit, len(e.senders))
	for i := range rep.Peers {
		rep.Peers[i].Lent = g.Peer(i)
	}
	e.pollMu.Unlock()
	for i := range rep.Peers {
		ln := e.senders[i].Load()
		if ln == nil {
			b, _ := credit.Borrow(&e.terms) // as it would begin
			rep.Peers[i].Borrowed = b.View()
			continue
		}
		ln.mu.Lock()
		e.refreshCredits(ln, i)
		rep.Peers[i].Borrowed = ln.credit.View()
		ln.mu.Unlock()
	}
	return rep
}

// CheckCredits looks through this rank's ledger for what must hold of it; for tests.
func (e *Endpoint) CheckCredits() error {
	e.pollMu.Lock()
	defer e.pollMu.Unlock()
	return e.recv.ledger.Check()
}
