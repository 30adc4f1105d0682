package barrier

import (
	"fmt"
	"slices"
	"sort"

	"github.com/golci/golci/realm/internal/event"
)

// Look tells whether this rank knows that a phase is over, and its poison. It may be over all the same if nobody on
// this rank has waited for it. With result, it is over only if its result is here, too, or is lost.
func (b *Barrier) Look(phase uint64, result bool) (over bool, why *event.Poison) {
	if r := b.last.getRecord(phase); r != nil {
		return true, r.poison
	}
	switch {
	case b.failed != nil && phase >= b.from:
		return true, b.failed
	case phase > b.known:
		return false, nil
	case phase > b.bad && (!result || b.own != nil || phase+Kept <= b.known):
		return true, nil
	case b.own != nil:
		return true, b.unknown(phase)
	case b.orphan:
		return true, b.failed
	}
	return false, nil
}

// unknown is the poison of a phase of which nobody knows any more whether it was poisoned.
func (b *Barrier) unknown(phase uint64) *event.Poison {
	return &event.Poison{Rank: b.Self, Errors: event.Lost, Text: fmt.Sprintf(
		"%v: phase %d or one near it was poisoned; of phases before %d this is forgotten", b.Name(), phase,
		b.known+1-min(b.known, Kept))}
}

// Result is the value of a phase that has triggered; nil if no arrival had one. It must not be written. There is an
// error if the phase is not known to have triggered, and if more than Kept phases have triggered since.
func (b *Barrier) Result(phase uint64) ([]byte, error) {
	r := b.last.getRecord(phase)
	switch over, _ := b.Look(phase, false); {
	case r != nil && !r.gone:
		return r.value, nil
	case !over:
		return nil, fmt.Errorf("%v: phase %d is not known to have triggered", b.Name(), phase)
	case r != nil || phase+Kept <= b.known:
		return nil, fmt.Errorf("%v: the result of phase %d is gone: those of %d phases are kept", b.Name(), phase, Kept)
	}
	return nil, fmt.Errorf("%v: no waiter of this rank has asked for the result of phase %d", b.Name(), phase)
}

// Subscribe has w wait for a phase; with result, until its result is here, too. False: it keeps w. True: the phase is
// over, w has its poison, and is the caller's again.
func (b *Barrier) Subscribe(phase uint64, result bool, w *event.Waiter, o *Out) (over bool) {
	b.waited = max(b.waited, phase)
	if over, w.Poison = b.Look(phase, result); over {
		return true
	}
	if b.own != nil {
		if w.Poison = b.outside(phase); w.Poison != nil {
			return true
		}
	}
	b.saw(phase)
	x := b.waitFor(phase)
	if x == nil && b.ended {
		w.Poison = b.failed
		return true
	}
	if x == nil {
		x = b.beginWait(phase)
	}
	x.list.Push(w)
	o.Dirty = o.Dirty || b.own == nil && !x.asked
	return false
}

// Withdraw takes back w, which waits for a phase. It returns false if w does not wait any more.
func (b *Barrier) Withdraw(phase uint64, w *event.Waiter) bool {
	x := b.waitFor(phase)
	return x != nil && x.list.Remove(w)
}

// WithdrawWhere takes back those that out names, of all phases.
func (b *Barrier) WithdrawWhere(out func(phase uint64, w *event.Waiter) bool) {
	for i := range b.waits {
		x := &b.waits[i]
		x.list.RemoveWhere(func(w *event.Waiter) bool { return out(x.num, w) })
	}
}

// Waiters calls f for all that wait on this rank.
func (b *Barrier) Waiters(f func(phase uint64, w *event.Waiter)) {
	for i := range b.waits {
		x := &b.waits[i]
		x.list.Each(func(w *event.Waiter) { f(x.num, w) })
	}
}

// waitFor finds a phase that this rank waits for; nil if it does not.
func (b *Barrier) waitFor(phase uint64) *wait {
	if i := b.placeOf(phase); i < len(b.waits) && b.waits[i].num == phase {
		return &b.waits[i]
	}
	return nil
}

// placeOf is where the wait for a phase is, or is to be.
func (b *Barrier) placeOf(phase uint64) int {
	return sort.Search(len(b.waits), func(i int) bool { b.countStep(); return b.waits[i].num >= phase })
}

// countStep counts what takes time, if anybody wants to know.
func (b *Barrier) countStep() {
	if b.Steps != nil {
		*b.Steps++
	}
}

// beginWait adds a phase to those that this rank waits for, which are sorted.
func (b *Barrier) beginWait(phase uint64) *wait {
	i := b.placeOf(phase)
	b.waits = slices.Insert(b.waits, i, wait{num: phase})
	return &b.waits[i]
}

// endPhase fires the waiters of a phase.
func (b *Barrier) endPhase(phase uint64, why *event.Poison, o *Out) {
	x := b.waitFor(phase)
	if x == nil {
		return
	}
	l := x.list.Take(why)
	o.Fire.Append(&l)
	if x == &b.waits[0] && len(b.waits) > 1 { // as a rule: phases end in order
		*x = wait{}
		b.waits = b.waits[1:]
		return
	}
	i := b.placeOf(phase)
	b.waits = slices.Delete(b.waits, i, i+1)
}

// endAll fires the waiters of all phases that over names.
func (b *Barrier) endAll(over func(x *wait) (*event.Poison, bool), o *Out) {
	kept := b.waits[:0]
	for i := range b.waits {
		x := b.waits[i]
		why, is := over(&x)
		if !is {
			kept = append(kept, x)
			continue
		}
		l := x.list.Take(why)
		o.Fire.Append(&l)
	}
	clear(b.waits[len(kept):])
	b.waits = kept
}

// outside is why nothing can be said of a phase that is too far from the last that has triggered; nil if it is not.
func (b *Barrier) outside(phase uint64) *event.Poison {
	if phase <= b.known+maxAhead && phase+maxBehind >= b.known {
		return nil
	}
	bits := b.Misuse
	if phase < b.known {
		bits |= event.Lost
	}
	return &event.Poison{Rank: b.Self, Errors: bits, Text: fmt.Sprintf(
		"%v: phase %d is too far from phase %d, the last that has triggered, or its identifier was misread",
		b.Name(), phase, b.known)}
}
