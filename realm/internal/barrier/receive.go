package barrier

import (
	"slices"

	"github.com/golci/golci/realm/internal/event"
)

// Receive takes a message. It keeps no part of m but m.Poison, m.Value and m.Ranks, which must not change afterwards.
func (b *Barrier) Receive(m *Message, o *Out) {
	b.saw(m.Phase)
	switch m.Kind {
	case Trigger:
		b.passShare(m, o)
		b.triggered(m, o)
	case Refusal:
		b.saw(m.Bad)
		b.endPhase(m.Phase, m.Poison, o)
		b.deliverHeld(o)
	case Failure:
		b.failure(m, o)
	case State:
		b.state(m, o)
	case Moved:
	default:
		b.forOwner(m, o)
		return
	}
	if m.Kind != State {
		b.learnOwner(m, o)
	}
}

// learnOwner notes who the owner is. That it is to be this rank, it learns from the state alone.
func (b *Barrier) learnOwner(m *Message, o *Out) {
	if m.Epoch <= b.epoch || m.Owner == b.Self {
		return
	}
	b.owner, b.epoch, b.giver = m.Owner, m.Epoch, m.Giver
	if why := b.Dead(b.owner); why != nil {
		b.lose(why, o)
	}
}

// news is a message to a rank that also tells it who the owner is.
func (b *Barrier) news(k Kind, to int32) Message {
	return Message{Kind: k, To: to, From: b.Self, Owner: b.owner, Epoch: b.epoch, Giver: b.giver}
}

// passShare tells the share of this rank that a phase has triggered.
func (b *Barrier) passShare(m *Message, o *Out) {
	if len(m.Ranks) == 0 {
		return
	}
	c := *m
	b.spreadShares(m.Ranks, c, o)
}

// triggered delivers a trigger, unless that of an earlier phase is still to come.
func (b *Barrier) triggered(m *Message, o *Out) {
	w := b.waitFor(m.Phase)
	if w == nil {
		return // this rank has become the owner, or the barrier has failed
	}
	if b.blocked(m.Phase) {
		c := *m
		w.held = &c
		return
	}
	b.deliverMessage(m, o)
	b.deliverHeld(o)
}

// blocked tells whether this rank waits for a phase before this one that it does not know to have triggered.
func (b *Barrier) blocked(phase uint64) bool {
	for i := range b.waits {
		if n := b.waits[i].num; n > b.known {
			return n < phase
		}
	}
	return false
}

func (b *Barrier) deliverMessage(m *Message, o *Out) {
	b.last.putRecord(record{m.Phase, m.Bad, m.Poison, m.Value, m.Flags&gone != 0})
	if m.Phase > b.known {
		b.known, b.bad = m.Phase, m.Bad
	}
	b.endPhase(m.Phase, m.Poison, o)
}

// deliverHeld delivers the triggers that no earlier phase holds back any more.
func (b *Barrier) deliverHeld(o *Out) {
	for i := 0; i < len(b.waits); i++ {
		switch w := &b.waits[i]; {
		case w.num <= b.known:
		case w.held == nil:
			return
		default:
			b.deliverMessage(w.held, o)
			i--
		}
	}
}

// forOwner takes a message for the owner.
func (b *Barrier) forOwner(m *Message, o *Out) {
	if m.From != b.Self {
		b.members.addRank(m.From)
	}
	switch {
	case b.own != nil:
		b.serveOwner(m, o)
	case b.orphan:
		b.tellFailure(m.From, o)
	case m.Epoch > b.epoch:
		b.early = append(b.early, *m)
		if why := b.Dead(m.Giver); why != nil { // the state is lost
			b.lose(why, o)
		}
	default:
		b.toOwner(*m, o)
		if m.From != b.Self {
			o.sendMessage(b.news(Moved, m.From))
		}
	}
}

// serveOwner does what a message asks of the owner.
func (b *Barrier) serveOwner(m *Message, o *Out) {
	if why := b.Dead(m.From); why != nil {
		b.failPhases(why, o)
		return
	}
	if r := m.Stamp.rank(); m.Stamp != 0 && r != b.Self {
		b.members.addRank(r)
		if why := b.Dead(r); why != nil {
			b.failPhases(why, o)
		}
	}
	if b.failed != nil && m.Kind != Subscription && m.Kind != End {
		b.tellFailure(m.From, o)
		return
	}
	if err := b.doMessage(m, o); err != nil {
		b.failPhases(b.misuse(m.From, err), o)
	}
}

func (b *Barrier) doMessage(m *Message, o *Out) error {
	switch m.Kind {
	case Arrival:
		if m.Flags&subscribes != 0 {
			b.subscription(m.From, m.Phase, o)
		}
		return b.arrival(m, o)
	case Alteration:
		return b.alteration(m, o)
	case Subscription:
		b.subscription(m.From, m.Phase, o)
	case Request:
		b.moveTo(m.Owner, o)
	case Fault:
		b.failPhases(m.Poison, o)
	case End:
		b.destroy(o)
	}
	return nil
}

// Died says that a rank has died, and that all its messages have been received.
func (b *Barrier) Died(rank int32, o *Out) {
	switch {
	case b.own != nil:
		if b.members.hasRank(rank) {
			b.failPhases(b.Dead(rank), o)
		}
	case b.owner == rank, slices.ContainsFunc(b.early, func(m Message) bool { return m.Giver == rank }):
		b.lose(b.Dead(rank), o)
	default:
		b.askAgain(o) // it may have been about to pass on a subscription
	}
}

// askAgain has Flush repeat the subscriptions that have not been answered.
func (b *Barrier) askAgain(o *Out) {
	for i := range b.waits {
		if w := &b.waits[i]; w.held == nil {
			w.asked, o.Dirty = false, true
		}
	}
}

// failPhases poisons all phases that have not triggered. Only the owner calls it.
func (b *Barrier) failPhases(why *event.Poison, o *Out) {
	if b.failed != nil {
		return
	}
	b.poisonFrom(b.known+1, why, o)
	b.members.eachRank(func(r int32) { b.tellFailure(r, o) })
}

// poisonFrom poisons all phases from one on, as far as this rank is concerned.
func (b *Barrier) poisonFrom(from uint64, why *event.Poison, o *Out) {
	b.failed, b.from = why, from
	clear(b.pending)
	b.pending = b.pending[:0]
	b.endAll(func(w *wait) (*event.Poison, bool) { return why, w.num >= from }, o)
}

// tellFailure sends the failure to a rank.
func (b *Barrier) tellFailure(to int32, o *Out) {
	if to == b.Self || b.Dead(to) != nil {
		return
	}
	m := b.news(Failure, to)
	m.Phase, m.Poison = b.from-1, b.failed
	if b.orphan {
		m.Flags = orphaned
	}
	if b.ended {
		m.Flags |= destroyed
	}
	o.sendMessage(m)
}

// failure takes the news of a failure.
func (b *Barrier) failure(m *Message, o *Out) {
	if b.own != nil {
		return
	}
	ended := m.Flags&destroyed != 0
	b.ended = b.ended || ended // those who are told of it may forget the barrier, too
	switch {
	case m.Flags&orphaned != 0:
		b.lose(m.Poison, o)
	case b.failed == nil:
		b.poisonFrom(m.Phase+1, m.Poison, o)
		if !ended {
			b.askAgain(o) // triggers may have been lost with a rank that was to pass them on
		}
	}
}

// lose poisons all that this rank does not know to have triggered, or waits for: the owner is dead. A former owner
// tells those who may believe in it.
func (b *Barrier) lose(why *event.Poison, o *Out) {
	if b.orphan {
		return
	}
	b.orphan = true
	for i := 0; i < len(b.waits); i++ {
		if w := &b.waits[i]; w.held != nil { // it has triggered, and so have those before it
			b.deliverMessage(w.held, o)
			i--
		}
	}
	if b.failed != nil {
		why = b.failed
	}
	from := b.known + 1
	if len(b.waits) > 0 { // its poison or its result is lost
		from = min(from, b.waits[0].num)
	}
	b.poisonFrom(from, why, o)
	b.members.eachRank(func(r int32) { b.tellFailure(r, o) })
	for i := range b.early {
		b.tellFailure(b.early[i].From, o)
	}
	b.early, b.parts = nil, nil
}
