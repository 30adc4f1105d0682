package barrier

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/golci/golci/realm/internal/event"
)

// moveTo gives the ownership away. The state may be larger than one message.
func (b *Barrier) moveTo(to int32, o *Out) {
	if to == b.Self || b.failed != nil || b.Dead(to) != nil {
		return
	}
	for i := range b.waits {
		w := &b.waits[i]
		b.phaseAt(w.num).subs.addRank(b.Self)
		w.asked = true
	}
	b.members.addRank(b.Self)
	state := b.pack()
	b.own, b.owner, b.epoch, b.giver = nil, to, b.epoch+1, b.Self
	n := (len(state) + maxValues - 1) / maxValues
	for i := range n {
		part := state[i*maxValues : min(len(state), (i+1)*maxValues)]
		m := b.news(State, to)
		m.Phase, m.Count, m.Own, m.Value = b.known, int64(n), uint64(i), part
		o.sendMessage(m)
	}
}

// state takes a part of the state; with the last one this rank is the owner. If it has told others already that there
// is no owner any more, it tells the last owner, too: that one knows who takes part.
func (b *Barrier) state(m *Message, o *Out) {
	switch {
	case b.own != nil || m.Count < 1 || m.Count > maxParts || m.Own >= uint64(m.Count):
		return
	case b.orphan:
		b.tellFailure(m.From, o)
		return
	}
	for len(b.parts) < int(m.Count) {
		b.parts = append(b.parts, nil)
	}
	b.parts[m.Own] = m.Value
	if slices.ContainsFunc(b.parts, func(p []byte) bool { return p == nil }) {
		return
	}
	state := slices.Concat(b.parts...)
	b.parts = nil
	if err := b.unpack(state); err != nil {
		b.own = nil
		b.lose(b.misuse(m.From, fmt.Errorf("%v: the state of the owner: %w", b.Name(), err)), o)
		b.tellFailure(m.From, o)
		return
	}
	b.owner, b.epoch, b.giver, b.owned = b.Self, m.Epoch, m.From, true
	b.begun(o)
}

// maxParts bounds the parts of a state.
const maxParts = 1 << 16

// begun has a new owner catch up with what has happened on its rank.
func (b *Barrier) begun(o *Out) {
	b.endAll(func(w *wait) (*event.Poison, bool) {
		if w.held != nil {
			return w.held.Poison, true
		}
		over, why := b.Look(w.num, true)
		return why, over
	}, o)
	b.members.eachRank(func(r int32) {
		if why := b.Dead(r); r != b.Self && why != nil {
			b.failPhases(why, o)
		}
	})
	pending, early := b.pending, b.early
	b.pending, b.early = nil, nil
	for i := range pending {
		pending[i].Own = b.seq
		b.forOwner(&pending[i], o)
	}
	for i := range early {
		b.forOwner(&early[i], o)
	}
}

// pack encodes all that the next owner must know.
func (b *Barrier) pack() []byte {
	w := b.own
	e := encoder{}
	e.numbers(b.known, b.bad, uint64(w.count), uint64(w.opNumber), uint64(w.size))
	e.writeList(len(b.last), func(i int) {
		r := &b.last[i]
		e.numbers(r.num, r.bad)
		e.writePoison(r.poison)
		e.writeBytes(r.value)
	})
	e.writeList(len(w.open), func(i int) { e.phase(&w.open[i]) })
	seen := slices.Sorted(maps.Keys(w.seen))
	e.writeList(len(seen), func(i int) { e.numbers(uint64(seen[i]), w.seen[seen[i]]) })
	e.writeList(len(w.alters), func(i int) { e.writeMessage(&w.alters[i]) })
	e.writeList(len(w.held), func(i int) { e.writeMessage(&w.held[i]) })
	e.ranks(b.members)
	return e
}

func (b *Barrier) unpack(state []byte) error {
	d := decoder{b: state}
	w := &owner{}
	known, bad := d.readNumber(), d.readNumber()
	w.count, w.opNumber, w.size = int64(d.readNumber()), uint32(d.readNumber()), int(d.readNumber())
	var last records
	d.readList(func() {
		r := record{num: d.readNumber(), bad: d.readNumber(), poison: d.readPoison(), value: d.readBytes()}
		last.putRecord(r)
	})
	d.readList(func() { w.open = append(w.open, d.phase()) })
	w.seen = make(map[int32]uint64)
	d.readList(func() { r := int32(d.readNumber()); w.seen[r] = d.readNumber() })
	d.readList(func() { w.alters = append(w.alters, d.readMessage(Alteration)) })
	d.readList(func() { w.held = append(w.held, d.readMessage(Arrival)) })
	members := d.ranks()
	if w.size > 0 {
		w.op = b.Ops(w.opNumber)
	}
	switch {
	case d.bad || len(d.b) > 0:
		return errors.New("it is cut off, or has a rest")
	case w.size > 0 && w.op == nil:
		return fmt.Errorf("there is no reduction operator %d", w.opNumber)
	case known < b.known || known > maxPhase || !w.sound(known) || !w.isWithin(b.Size) || !members.allBelow(b.Size):
		return fmt.Errorf("phase %d has triggered, and %d phases have not", known, len(w.open))
	}
	members.eachRank(b.members.addRank)
	b.own, b.known, b.bad, b.last = w, known, bad, last
	b.saw(known)
	return nil
}

// sound tells whether an owner can be in this state.
func (w *owner) sound(known uint64) bool {
	ordered := slices.IsSortedFunc(w.open, func(x, y phase) int { return cmp.Compare(x.num, y.num) })
	return ordered && len(w.open) > 0 && w.open[0].num == known+1 && w.count > 0 &&
		!slices.ContainsFunc(w.open, func(p phase) bool {
			return p.arrived < 0 || p.arrived > p.expected || p.value != nil && len(p.value) != w.size
		}) &&
		w.size >= 0 && w.size <= maxValue &&
		!slices.ContainsFunc(w.held, func(m Message) bool { return w.fitsValues(m.Value) != nil })
}

// isWithin tells whether all ranks that w names are in a job of that size.
func (w *owner) isWithin(size int) bool {
	outside := func(m Message) bool {
		return m.From < 0 || int(m.From) >= size || int(m.Stamp.rank()) >= size
	}
	return !slices.ContainsFunc(w.open, func(p phase) bool { return !p.subs.allBelow(size) }) &&
		!slices.ContainsFunc(w.held, outside) && !slices.ContainsFunc(w.alters, outside)
}

// encoder appends numbers, and bytes with their length.
type encoder []byte

func (e *encoder) numbers(ns ...uint64) {
	for _, n := range ns {
		*e = binary.AppendUvarint(*e, n)
	}
}

func (e *encoder) writeBytes(p []byte) {
	if p == nil {
		e.numbers(0)
		return
	}
	e.numbers(uint64(len(p)) + 1)
	*e = append(*e, p...)
}

func (e *encoder) writePoison(p *event.Poison) {
	if p == nil {
		e.numbers(0)
		return
	}
	e.numbers(1)
	*e = p.Append(*e)
}

func (e *encoder) writeList(n int, each func(i int)) {
	e.numbers(uint64(n))
	for i := range n {
		each(i)
	}
}

func (e *encoder) ranks(s ranks) { e.writeList(len(s), func(i int) { e.numbers(s[i]) }) }

func (e *encoder) phase(p *phase) {
	e.numbers(p.num, uint64(p.expected), uint64(p.arrived))
	e.writePoison(p.poison)
	e.writeBytes(p.value)
	e.ranks(p.subs)
}

func (e *encoder) writeMessage(m *Message) {
	e.numbers(uint64(m.From), m.Phase, uint64(m.Count), uint64(m.Stamp), m.Own)
	e.writePoison(m.Poison)
	e.writeBytes(m.Value)
}

// decoder reads what an encoder has made. bad says that it is something else.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) readNumber() uint64 {
	n, size := binary.Uvarint(d.b)
	if size <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[size:]
	return n
}

func (d *decoder) readBytes() []byte {
	n := d.readNumber()
	switch {
	case n == 0:
		return nil
	case n-1 > uint64(len(d.b)):
		d.bad, d.b = true, nil
		return nil
	}
	p := d.b[: n-1 : n-1]
	d.b = d.b[n-1:]
	return p
}

func (d *decoder) readPoison() *event.Poison {
	if d.readNumber() == 0 {
		return nil
	}
	p, rest, err := event.ParsePoison(d.b)
	if d.b = rest; err != nil {
		d.bad = true
	}
	return p
}

func (d *decoder) readList(each func()) {
	for n := d.readNumber(); n > 0 && !d.bad; n-- {
		each()
	}
}

func (d *decoder) ranks() (s ranks) {
	d.readList(func() { s = append(s, d.readNumber()) })
	d.bad = d.bad || len(s) > event.MaxRanks/64
	return s
}

func (d *decoder) phase() phase {
	p := phase{
		num: d.readNumber(), expected: int64(d.readNumber()), arrived: int64(d.readNumber()), poison: d.readPoison(),
		value: d.readBytes(),
	}
	p.subs = d.ranks()
	return p
}

func (d *decoder) readMessage(k Kind) Message {
	m := Message{
		Kind: k, From: int32(d.readNumber()), Phase: d.readNumber(), Count: int64(d.readNumber()),
		Stamp: Stamp(d.readNumber()), Own: d.readNumber(),
	}
	m.Poison, m.Value = d.readPoison(), d.readBytes()
	return m
}
