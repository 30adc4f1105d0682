package event

import "slices"

// maxOwn is how many runs of generations that this rank has triggered, and of which the owner has said nothing since,
// are remembered. The owner is asked for what is forgotten.
const maxOwn = 16

// Replica is what a rank keeps of an event that another rank owns. The zero value knows nothing.
//
// A later generation says that earlier ones have triggered, but not whether they were poisoned. So only what the owner
// tells ends a wait for an earlier one.
type Replica struct {
	gen      uint32 // all is known of the generations up to this one
	first    pend   // the wait that has been there longest, if its gen is not 0
	more     []pend
	own      []ownRun // generations after gen that this rank has triggered
	poisoned *Poisons
	dead     *Poison // why the owner will not tell anything any more
}

// pend is the wait for one generation, of which the owner has been asked.
type pend struct {
	gen  uint32
	wait List
}

// ownRun is generations in a row that this rank has triggered, in the same way.
type ownRun struct {
	from, to uint32
	why      *Poison
}

// Look tells what this rank knows of gen. Pending may mean that it does not know.
func (r *Replica) Look(gen uint32) (Status, *Poison) {
	switch {
	case gen == 0:
		return Unknown, nil
	case gen <= r.gen && r.poisoned.forgot(gen) && r.pendOf(gen) != nil:
		return Pending, nil // the owner has been asked in time, maybe, and then answers with the outcome
	case gen <= r.gen:
		return Triggered, r.poisoned.findPoison(gen)
	}
	for _, o := range r.own {
		if o.from <= gen && gen <= o.to {
			return Triggered, o.why
		}
	}
	if r.dead != nil {
		return Triggered, r.dead
	}
	return Pending, nil
}

// Wait has w wait for gen. It keeps w if the status is Pending; then ask tells whether the owner is to be asked, by one
// subscription for each generation.
func (r *Replica) Wait(gen uint32, w *Waiter) (st Status, why *Poison, ask bool) {
	if st, why = r.Look(gen); st != Pending {
		return st, why, false
	}
	w.Poison = nil
	p := r.pendOf(gen)
	if p == nil {
		p, ask = r.beginPend(gen), true
	}
	p.wait.Push(w)
	return Pending, nil, ask
}

// Ask tells whether the owner is to be asked for gen, though nobody here waits for it.
func (r *Replica) Ask(gen uint32) bool {
	if st, _ := r.Look(gen); st != Pending || r.pendOf(gen) != nil {
		return false
	}
	r.beginPend(gen)
	return true
}

// Idle tells whether the owner has answered all questions. Then nobody waits, and the rank may forget the replica: it
// asks again for what it has forgotten. For that, the owner must not take a rank for one that knows what it has
// triggered, unless it was Asked for that.
func (r *Replica) Idle() bool { return r.first.gen == 0 && len(r.more) == 0 }

func (r *Replica) pendOf(gen uint32) *pend {
	if r.first.gen == gen {
		return &r.first
	}
	for i := range r.more {
		if r.more[i].gen == gen {
			return &r.more[i]
		}
	}
	return nil
}

func (r *Replica) beginPend(gen uint32) *pend {
	if r.first.gen == 0 {
		r.first.gen = gen
		return &r.first
	}
	r.more = append(r.more, pend{gen: gen})
	return &r.more[len(r.more)-1]
}

// Withdraw takes w back, which waits for gen. False if gen has triggered.
func (r *Replica) Withdraw(gen uint32, w *Waiter) bool {
	p := r.pendOf(gen)
	return p != nil && p.wait.Remove(w)
}

// WithdrawWhere takes back those that out names, of all generations.
func (r *Replica) WithdrawWhere(out func(gen uint32, w *Waiter) bool) {
	from := func(p *pend) { p.wait.RemoveWhere(func(w *Waiter) bool { return out(p.gen, w) }) }
	from(&r.first)
	for i := range r.more {
		from(&r.more[i])
	}
}

// Trigger triggers gen from this rank. It returns the waiters of this rank. Pending means that the owner is to be told;
// else gen has triggered before, as far as this rank knows.
func (r *Replica) Trigger(gen uint32, why *Poison) (woken List, st Status) {
	if st, _ = r.Look(gen); st != Pending {
		return List{}, st
	}
	r.noteTriggered(gen, why)
	if p := r.pendOf(gen); p != nil {
		woken = p.wait.Take(why)
		r.endOver(func(g uint32) bool { return g == gen })
	}
	return woken, Pending
}

// Deny takes the owner's word that there is no gen, which it has been asked for, or was to trigger. It counts as
// poisoned by why on this rank, until the owner tells of a later generation. It returns the waiters.
func (r *Replica) Deny(gen uint32, why *Poison) (woken List) {
	if gen <= r.gen {
		return List{}
	}
	r.own = slices.DeleteFunc(r.own, func(o ownRun) bool { return o.from <= gen && gen <= o.to })
	woken, _ = r.Trigger(gen, why)
	return woken
}

// noteTriggered remembers that this rank has triggered gen.
func (r *Replica) noteTriggered(gen uint32, why *Poison) {
	if n := len(r.own); n > 0 && r.own[n-1].to+1 == gen && r.own[n-1].why == why {
		r.own[n-1].to = gen
		return
	}
	if len(r.own) == maxOwn {
		r.own = slices.Delete(r.own, 0, 1)
	}
	r.own = append(r.own, ownRun{gen, gen, why})
}

// Asked tells whether the owner has been asked for gen and has not answered. If this rank triggers gen, the owner needs
// to know (Slot.Expect).
func (r *Replica) Asked(gen uint32) bool { return gen != 0 && r.pendOf(gen) != nil }

// endOver forgets the waits for the generations that over names; they have no waiters left.
func (r *Replica) endOver(over func(gen uint32) bool) {
	r.more = slices.DeleteFunc(r.more, func(p pend) bool { return over(p.gen) })
	if over(r.first.gen) {
		r.first = pend{}
	}
}

// Update takes what the owner tells: all generations up to gen have triggered, and these are poisoned. It returns the
// waiters that this ends, each with its poison.
//
// An owner forgets old outcomes. What it tells of a later generation then does not end the wait for one that it has
// forgotten: it may have told the outcome before, and that message may have been overtaken. Each question gets an
// answer of its own (Slot.UpdateFor).
func (r *Replica) Update(gen uint32, poisoned *Poisons) (woken List) {
	if gen > r.gen { // else it has been overtaken by a later one
		r.gen, r.poisoned = gen, poisoned
		r.own = slices.DeleteFunc(r.own, func(o ownRun) bool { return o.to <= gen })
	}
	told := func(g uint32) bool { return g == gen || g < gen && !poisoned.forgot(g) }
	wake := func(p *pend) {
		if p.gen != 0 && told(p.gen) {
			l := p.wait.Take(poisoned.findPoison(p.gen))
			woken.Append(&l)
		}
	}
	wake(&r.first)
	for i := range r.more {
		wake(&r.more[i])
	}
	r.endOver(told)
	return woken
}

// Die ends all waits, now and later, since the owner has died.
func (r *Replica) Die(why *Poison) (woken List) {
	r.dead = why
	woken = r.first.wait.Take(why)
	for i := range r.more {
		l := r.more[i].wait.Take(why)
		woken.Append(&l)
	}
	r.first, r.more = pend{}, nil
	return woken
}

// Waiters calls f for those that wait, with the generation.
func (r *Replica) Waiters(f func(gen uint32, w *Waiter)) {
	r.first.wait.Each(func(w *Waiter) { f(r.first.gen, w) })
	for i := range r.more {
		r.more[i].wait.Each(func(w *Waiter) { f(r.more[i].gen, w) })
	}
}
