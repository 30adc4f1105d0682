package event

import "slices"

// Status is what is known of a generation.
type Status uint8

// States of a generation.
const (
	Pending   Status = iota // it has not triggered, or not as far as this rank knows
	Triggered               // it has; a poison says whether it was poisoned
	Unknown                 // there is no such generation yet
)

// Slot is what the owner of an event keeps. One slot serves all generations of an event, one after the other. The zero
// value has no generation. Its first is 1.
type Slot struct {
	wait  List       // waiters of gen+1, of this rank
	extra *slotExtra // nil in most slots
	gen   uint32     // newest generation that has triggered
	alive bool       // generation gen+1 has been created
}

// slotExtra is what few slots need.
type slotExtra struct {
	subs      Ranks // ranks that wait for gen+1
	questions []question
	poisoned  Poisons
}

// question is a subscription that is still on its way, of a rank whose trigger has overtaken it.
type question struct {
	gen  uint32
	rank int32
}

func (s *Slot) theRare() *slotExtra {
	if s.extra == nil {
		s.extra = new(slotExtra)
	}
	return s.extra
}

// Create begins the next generation of a slot that is not Alive and not Retired.
func (s *Slot) Create() (gen uint32) {
	s.alive = true
	return s.gen + 1
}

// Alive tells whether there is a generation that has not triggered, and which.
func (s *Slot) Alive() (gen uint32, ok bool) { return s.gen + 1, s.alive }

// isPending tells whether gen has been created and has not triggered.
func (s *Slot) isPending(gen uint32) bool { return gen == s.gen+1 && s.alive }

// Retired tells whether the slot can have no further generation: it has used up the numbers, or its runs of poisoned
// generations.
func (s *Slot) Retired() bool {
	return s.gen == MaxGen || s.extra != nil && s.extra.poisoned.isFull()
}

// Look tells whether gen has triggered, and its poison.
func (s *Slot) Look(gen uint32) (Status, *Poison) {
	switch {
	case gen <= s.gen && gen > 0:
		return Triggered, s.poisonOf(gen)
	case s.isPending(gen):
		return Pending, nil
	}
	return Unknown, nil
}

func (s *Slot) poisonOf(gen uint32) *Poison {
	if s.extra == nil {
		return nil
	}
	return s.extra.poisoned.findPoison(gen)
}

// Wait has w, of this rank, wait for gen. It keeps w if the result is Pending.
func (s *Slot) Wait(gen uint32, w *Waiter) (Status, *Poison) {
	if !s.isPending(gen) {
		return s.Look(gen)
	}
	w.Poison = nil
	s.wait.enterList(w)
	return Pending, nil
}

// Withdraw takes w back, which waits for gen. False if gen has triggered.
func (s *Slot) Withdraw(gen uint32, w *Waiter) bool { return gen == s.gen+1 && s.wait.Remove(w) }

// WithdrawWhere takes back those that out names, of the generation that has not triggered.
func (s *Slot) WithdrawWhere(out func(w *Waiter) bool) { s.wait.RemoveWhere(out) }

// Leave is Withdraw of a waiter that waits for gen, or will, unless gen has triggered. Its cost does not depend on how
// many others wait. False if gen has triggered, or w does not wait yet.
func (s *Slot) Leave(gen uint32, w *Waiter) bool {
	if !s.isPending(gen) || w.Next == nil {
		return false
	}
	s.wait.Leave(w)
	return true
}

// Subscribe notes that another rank waits for gen. If it has triggered, that rank is to be told now (UpdateFor), unless
// answer is false: the rank has triggered gen itself.
func (s *Slot) Subscribe(gen uint32, rank int32) (st Status, answer bool) {
	st, _ = s.Look(gen)
	switch st {
	case Triggered:
		return st, !s.expected(question{gen, rank})
	case Pending:
		s.theRare().subs.addRank(rank)
	}
	return st, false
}

// Expect notes that a rank that is about to trigger gen has subscribed to it (Replica.Asked). The subscription may come
// later than the trigger; then it needs no answer. It is to be called before Trigger.
func (s *Slot) Expect(gen uint32, rank int32) {
	if st, _ := s.Look(gen); st != Pending || s.extra != nil && s.extra.subs.hasRank(rank) {
		return
	}
	r := s.theRare()
	r.questions = append(r.questions, question{gen, rank})
}

// expected tells whether q is one of the late subscriptions, which it ends.
func (s *Slot) expected(q question) bool {
	if s.extra == nil {
		return false
	}
	i := slices.Index(s.extra.questions, q)
	if i >= 0 {
		s.extra.questions = slices.Delete(s.extra.questions, i, i+1)
	}
	return i >= 0
}

// Unsubscribe forgets a rank that has died.
func (s *Slot) Unsubscribe(rank int32) {
	if s.extra != nil && s.extra != &forgotten {
		s.extra.subs.dropRank(rank)
		s.extra.questions = slices.DeleteFunc(s.extra.questions, func(q question) bool { return q.rank == rank })
	}
}

// Trigger triggers gen, which rank by has asked for; why is not nil if it is poisoned. It returns the waiters of this
// rank, and the ranks that are to be told, of which by is not one. A rank may forget what it has triggered, and then
// subscribe: so by is NoRank for another rank that has not asked before (Expect). Pending means that this has happened;
// else it was done before, or there is no such generation.
func (s *Slot) Trigger(gen uint32, by int32, why *Poison) (woken List, tell Ranks, st Status) {
	if !s.isPending(gen) {
		st, _ = s.Look(gen)
		return List{}, Ranks{}, st
	}
	if why != nil {
		s.theRare().poisoned.Add(gen, why)
	}
	s.gen, s.alive = gen, false
	woken = s.wait.Take(why)
	if s.extra != nil && s.extra.subs.first != 0 {
		tell, s.extra.subs = s.extra.subs, Ranks{}
		tell.dropRank(by)
	}
	return woken, tell, Pending
}

// Update is what another rank is to be told: all generations up to gen have triggered, and these are poisoned.
func (s *Slot) Update() (gen uint32, poisoned *Poisons) {
	if s.extra == nil {
		return s.gen, nil
	}
	return s.gen, s.extra.poisoned.Clone()
}

// UpdateFor is the answer to a question for gen, which has triggered. If its outcome has been forgotten, the answer
// tells of no later generation: only so it counts as one (Replica.Update).
func (s *Slot) UpdateFor(gen uint32) (newest uint32, poisoned *Poisons) {
	if s.extra != nil && gen <= s.extra.poisoned.forgotten {
		return gen, &Poisons{forgotten: gen}
	}
	return s.Update()
}

// Waiters calls f for those of this rank that wait.
func (s *Slot) Waiters(f func(w *Waiter)) { s.wait.Each(f) }

// Subscribers is how many other ranks wait.
func (s *Slot) Subscribers() int {
	if s.extra == nil {
		return 0
	}
	return s.extra.subs.Len()
}
