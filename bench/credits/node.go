package credits

import (
	"slices"

	"github.com/golci/golci/internal/transport/credit"
)

// node is one rank: its ledger, and what its peers have lent to it, by slot. A slot stands for a peer that the rank
// ever talks to.
type node struct {
	ledger *credit.Ledger
	out    []credit.Borrower
	links  []link
	id     int

	inbox  []event // what has arrived and was not polled
	system []system
	owing  []uint16 // slots to pay when nothing comes in
	listed []bool   // in owing
	idle   int

	targets []uint16 // slots to send to, in turns
	turn    int
	burst   int  // requests left of this turn
	stalled bool // the next request has been counted as waiting
	budget  int  // credits that can be sent now

	awayFrom, awayTo int
	told             int // messages sent for the sake of credits alone
	flying           int // credits of requests on their way here, or here and not received
}

// link leads to a peer: its index, and the slot it has for this rank.
type link struct {
	node int32
	slot uint16
}

// event is what arrives at a node: requests of one tick from one peer, or a note alone. Only the first of the requests
// may have more fields than a cost.
type event struct {
	node   int32
	slot   uint16 // of the sender, at the receiver
	n      uint8  // requests; 0: a note alone
	fields credit.Fields
	note   uint32
}

// system is a system message that arrives at a node.
type system struct {
	node int32
	slot uint16
	kind credit.Kind
	args credit.Args
}

// step is one tick of a node that is there.
func (s *sim) step(n *node) error {
	busy := len(n.inbox)+len(n.system) > 0
	if busy {
		if err := s.poll(n); err != nil {
			return err
		}
		n.idle = 0
	} else if n.idle++; n.idle == 2 {
		s.payAll(n)
	}
	if len(n.targets) > 0 {
		s.send(n)
	}
	return nil
}

// poll serves system messages, then the inbox as far as the rank can receive in a tick.
func (s *sim) poll(n *node) error {
	for _, m := range n.system {
		if err := s.serve(n, m); err != nil {
			return err
		}
	}
	n.system = n.system[:0]
	done := 0 // events of the inbox
	for left := s.service; left > 0 && done < len(n.inbox); done++ {
		e := &n.inbox[done]
		b := &n.out[e.slot]
		if e.fields.Epoch() {
			b.Epochs(1)
			e.fields &^= 1 << 15
		}
		if _, err := b.Hear32(e.note); err != nil {
			return err
		}
		if e.n > 0 {
			take := min(left, int(e.n))
			s.receive(n, int(e.slot), e.fields, take)
			left -= take
			e.fields = credit.Fields(s.c.cost) // the others have no need
			if e.n -= uint8(take); e.n > 0 {
				break
			}
		}
	}
	n.inbox = slices.Delete(n.inbox, 0, done)
	return nil
}

// receive is what the receiver of count requests does: it gives their space back, grants what the first needs if it
// can, and tells what is due.
func (s *sim) receive(n *node, slot int, f credit.Fields, count int) {
	due := false
	for range count {
		due = n.ledger.Freed(slot, s.c.cost) || due
	}
	n.flying -= count * s.c.cost
	s.received += uint64(count)
	if need := f.Need(); need > 0 {
		due = n.ledger.Need(slot, need) > 0 || due
		s.emit(n)
	}
	if due {
		s.tell(n, slot)
	} else if !n.listed[slot] {
		n.listed[slot] = true
		n.owing = append(n.owing, uint16(slot))
	}
}

func (s *sim) payAll(n *node) {
	for _, slot := range n.owing {
		n.listed[slot] = false
		if n.ledger.Owed(int(slot)) > 0 {
			s.tell(n, int(slot))
		}
	}
	n.owing = n.owing[:0]
}

// tell sends a note by itself.
func (s *sim) tell(n *node, slot int) {
	n.told++
	s.post(n, slot, event{
		note:   n.ledger.Note(slot).Pack32(),
		fields: n.out[slot].Wire(0, n.ledger.Epoch()),
	})
}

// emit sends what the ledger wants sent.
func (s *sim) emit(n *node) {
	for _, m := range n.ledger.Messages() {
		s.sendSystem(n, m.Peer, m.Kind, m.Args)
	}
}

func (s *sim) sendSystem(n *node, slot int, k credit.Kind, a credit.Args) {
	n.told++
	n.out[slot].Stamp(&a, n.ledger.Epoch())
	to := n.links[slot]
	at := s.arrival()
	s.messages[at] = append(s.messages[at], system{to.node, to.slot, k, a})
}

func (s *sim) serve(n *node, m system) error {
	b := &n.out[m.slot]
	if m.kind == credit.Revoke {
		a, err := b.Revoke(&s.c.terms, m.args)
		if err != nil {
			return err
		}
		s.sendSystem(n, int(m.slot), credit.Return, a)
		return nil
	}
	b.Epochs(int(m.args[1]))
	if m.kind == credit.Ask {
		if n.ledger.Asked(int(m.slot), m.args) > 0 {
			s.tell(n, int(m.slot))
		}
		s.emit(n)
		return nil
	}
	return n.ledger.Returned(int(m.slot), m.args)
}

// send sends what the rank can in a tick, or up to the first request that has to wait.
func (s *sim) send(n *node) {
	n.budget = min(n.budget+rate, max(rate, s.c.cost))
	for n.budget >= s.c.cost {
		slot := int(n.targets[n.turn])
		b := &n.out[slot]
		if b.InUse()+s.c.cost > s.window {
			return
		}
		if !b.Take(s.c.cost) {
			if !n.stalled {
				n.stalled = true
				s.stalls++
				if a, ask := b.Stall(s.c.cost); ask {
					s.sendSystem(n, slot, credit.Ask, a)
				}
			}
			return
		}
		n.stalled = false
		e := event{n: 1, fields: b.Wire(s.c.cost, n.ledger.Epoch())}
		n.budget -= s.c.cost
		n.burst--
		for n.budget >= s.c.cost && n.burst > 0 && e.n < 255 && b.InUse()+s.c.cost <= s.window && b.Take(s.c.cost) {
			e.n++
			n.budget -= s.c.cost
			n.burst--
		}
		e.note = n.ledger.Note(slot).Pack32()
		s.fly(n, slot, int(e.n)*s.c.cost)
		s.post(n, slot, e)
		if n.burst <= 0 {
			n.burst = turnLength
			n.turn = (n.turn + 1) % len(n.targets)
		}
	}
}
