package barrier

import (
	"fmt"
	"slices"
	"sort"

	"github.com/golci/golci/realm/internal/event"
)

// maxCount is the largest count of arrivals. A rank becomes the owner when it has made moveLead arrivals more than all
// others since the owner has moved.
const (
	maxCount = 1 << 40
	moveLead = 256
)

// owner is what only the owner knows.
type owner struct {
	count    int64 // of arrivals, unless a phase is altered
	op       Op
	opNumber uint32
	size     int              // bytes of a value
	open     []phase          // by number; the first is the one after the last that has triggered
	seen     map[int32]uint64 // number of the last alteration of each rank
	alters   []Message        // that wait for others
	held     []Message        // arrivals that wait for an alteration

	most  int32 // the rank that leads
	votes int64 // by how many arrivals, if there is one with more than all others
}

// vote counts arrivals of a rank: the one that has more than half of all is left at the end.
func (w *owner) vote(rank int32, n int64) {
	if w.most == rank {
		w.votes += n
		return
	}
	if w.votes -= n; w.votes < 0 {
		w.most, w.votes = rank, -w.votes
	}
}

// phaseAt finds a phase that has not triggered. In most cases all phases up to it are open.
func (b *Barrier) phaseAt(num uint64) *phase {
	w := b.own
	b.countStep()
	if n := num - w.open[0].num; n < uint64(len(w.open)) && w.open[n].num == num {
		return &w.open[n]
	}
	i := sort.Search(len(w.open), func(i int) bool { b.countStep(); return w.open[i].num >= num })
	if i == len(w.open) || w.open[i].num != num {
		w.insert(i, num)
	}
	return &w.open[i]
}

func (w *owner) insert(i int, num uint64) {
	w.open = append(w.open, phase{})
	copy(w.open[i+1:], w.open[i:])
	w.open[i] = phase{num: num, expected: w.count}
}

// hasApplied tells whether the owner has applied an alteration.
func (w *owner) hasApplied(s Stamp) bool { return s == 0 || w.seen[s.rank()] >= s.n() }

// reachable returns an error for a phase that has triggered or is too far ahead.
func (b *Barrier) reachable(phase uint64) error {
	if phase <= b.known {
		return b.isOver(phase)
	}
	if phase > b.known+maxAhead {
		return fmt.Errorf("%v: phase %d is more than %d phases after %d, the last that has triggered",
			b.Name(), phase, maxAhead, b.known)
	}
	return nil
}

// arrival counts arrivals, or keeps them until the alterations that they know of have come.
func (b *Barrier) arrival(m *Message, o *Out) error {
	w := b.own
	if err := w.fitsValues(m.Value); err != nil {
		return fmt.Errorf("%v: %w", b.Name(), err)
	}
	if err := b.reachable(m.Phase); err != nil {
		return err
	}
	if !w.hasApplied(m.Stamp) || w.seen[m.From] < m.Own {
		h := *m
		h.Value = slices.Clone(m.Value)
		w.held = append(w.held, h)
		return nil
	}
	if err := b.countArrivals(m); err != nil {
		return err
	}
	b.advancePhases(o)
	return nil
}

// fitsValues returns an error for bytes that are not values of the barrier.
func (w *owner) fitsValues(values []byte) error {
	if n := len(values); n > 0 && (w.size == 0 || n%w.size != 0) {
		return fmt.Errorf("a value of %d bytes, not %d", n, w.size)
	}
	return nil
}

func (b *Barrier) countArrivals(m *Message) error {
	if err := b.reachable(m.Phase); err != nil {
		return err
	}
	p := b.phaseAt(m.Phase)
	if m.Count > p.expected-p.arrived {
		return fmt.Errorf("%v: %d arrivals at phase %d, which expects %d, after %d", b.Name(), m.Count, m.Phase,
			p.expected, p.arrived)
	}
	p.arrived += m.Count
	p.poison = p.poison.Join(m.Poison)
	if err := b.own.fold(p, m.Value); err != nil && p.poison == nil {
		err = fmt.Errorf("%v: phase %d: %w", b.Name(), p.num, err)
		p.poison = &event.Poison{Rank: b.Self, Text: err.Error(), Err: err} // of the operator
	}
	b.own.vote(m.From, m.Count)
	return nil
}

// fold returns the last error of the operator, which gets all values.
func (w *owner) fold(p *phase, values []byte) (err error) {
	for ; len(values) > 0; values = values[w.size:] {
		if p.value == nil {
			p.value = append(make([]byte, 0, w.size), values[:w.size]...)
			continue
		}
		if wrong := w.op.Fold(p.value, values[:w.size]); wrong != nil {
			err = wrong
		}
	}
	return err
}

// advancePhases triggers all phases that are complete.
func (b *Barrier) advancePhases(o *Out) {
	w := b.own
	if p := &w.open[0]; p.arrived != p.expected {
		return
	}
	for w.open[0].arrived == w.open[0].expected {
		b.trigger(o)
	}
	if w.votes >= moveLead && w.most != b.Self {
		b.moveTo(w.most, o)
	}
}

// trigger ends the first phase that is open.
func (b *Barrier) trigger(o *Out) {
	w := b.own
	p := &w.open[0]
	b.known = p.num
	b.saw(p.num)
	if p.poison != nil {
		b.bad = p.num
	}
	b.last.putRecord(record{num: p.num, bad: b.bad, poison: p.poison, value: p.value})
	b.endPhase(p.num, p.poison, o)
	if len(p.subs) > 0 {
		b.spreadShares(p.subs.listBut(b.Self), b.reportPhase(p.num), o)
		clear(p.subs)
	}
	next := phase{num: p.num + 1, expected: w.count}
	if len(w.open) == 1 {
		next.subs = p.subs[:0]
		*p = next
		return
	}
	if w.open[1].num != next.num {
		*p = next
		return
	}
	*p = phase{}
	w.open = w.open[1:] // the next append that finds no room copies what is left
}

// reportPhase is the message that a phase has triggered, which the owner still knows all about.
func (b *Barrier) reportPhase(num uint64) Message {
	r := b.last.getRecord(num)
	m := b.news(Trigger, 0)
	m.Phase, m.Bad, m.Poison, m.Value = num, r.bad, r.poison, r.value
	return m
}

// radix is to how many ranks one rank passes a trigger on.
const radix = 4

// spreadShares sends m to the first ranks of shares, each with the rest of its share.
func (b *Barrier) spreadShares(share []uint16, m Message, o *Out) {
	n := min(len(share), max(radix, (len(share)+maxShare-1)/maxShare))
	for i := range n {
		part := share[i*len(share)/n : (i+1)*len(share)/n]
		m.To = int32(part[0])
		m.Ranks = append([]uint16(nil), part[1:]...)
		o.sendMessage(m)
	}
}

// alteration applies an alteration, or keeps it until those that it must follow have come.
func (b *Barrier) alteration(m *Message, o *Out) error {
	w := b.own
	w.alters = append(w.alters, *m)
	for w.applicable() >= 0 {
		i := w.applicable()
		m := w.alters[i]
		w.alters = slices.Delete(w.alters, i, i+1)
		if err := b.alter(&m); err != nil {
			return err
		}
	}
	if err := b.releaseCounted(); err != nil {
		return err
	}
	b.advancePhases(o)
	return nil
}

// applicable is the place of an alteration that may be applied; -1 if there is none.
func (w *owner) applicable() int {
	for i := range w.alters {
		if m := &w.alters[i]; w.seen[m.From]+1 == m.Own && w.hasApplied(m.Stamp) {
			return i
		}
	}
	return -1
}

func (b *Barrier) alter(m *Message) error {
	w := b.own
	if w.seen == nil {
		w.seen = make(map[int32]uint64)
	}
	w.seen[m.From] = m.Own
	if err := b.reachable(m.Phase); err != nil {
		return err
	}
	p := b.phaseAt(m.Phase)
	if p.expected += m.Count; p.expected < p.arrived || p.expected > maxCount {
		return fmt.Errorf("%v: phase %d is altered by %d to expect %d arrivals, after %d",
			b.Name(), m.Phase, m.Count, p.expected, p.arrived)
	}
	return nil
}

// releaseCounted counts the arrivals whose alterations have come. All of them come before the phases trigger: the last
// of these arrivals may be what completes one.
func (b *Barrier) releaseCounted() error {
	w := b.own
	held := w.held
	w.held = nil
	for i := range held {
		m := &held[i]
		if !w.hasApplied(m.Stamp) || w.seen[m.From] < m.Own {
			w.held = append(w.held, *m)
		} else if err := b.countArrivals(m); err != nil {
			return err
		}
	}
	return nil
}

// subscription answers a subscription of another rank, or notes it.
func (b *Barrier) subscription(from int32, num uint64, o *Out) {
	if from == b.Self {
		return // it was not the owner when it subscribed
	}
	to := b.news(Refusal, from)
	to.Phase = num
	switch over, why := b.Look(num, true); {
	case b.failed != nil && num >= b.from:
		b.tellFailure(from, o)
		return
	case b.outside(num) != nil:
		to.Poison, to.Bad = b.outside(num), b.known
	case !over:
		b.phaseAt(num).subs.addRank(from)
		return
	case b.last.getRecord(num) != nil:
		to = b.reportPhase(num)
		to.To = from
	case why != nil:
		to.Poison = why
	default:
		to.Kind, to.Flags, to.Bad = Trigger, gone, b.bad
	}
	o.sendMessage(to)
}

// misuse is what a mistake of a rank does to the barrier.
func (b *Barrier) misuse(rank int32, err error) *event.Poison {
	return &event.Poison{Rank: rank, Errors: b.Misuse, Text: err.Error(), Err: err}
}
