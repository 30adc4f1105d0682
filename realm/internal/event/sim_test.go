package event

import (
	"fmt"
	"slices"
)

// A system is a few ranks that own and use events. What the ranks do, and in which order messages arrive, is for the
// test to choose. It knows what has really happened, and finds out whether any rank holds it for something else.
type system struct {
	ranks  int
	dead   []bool // ranks
	slots  []simSlot
	msgs   []message
	jobs   []*job
	merges []merge
	by     map[simEvent]int // the ranks that are to trigger events, as far as they may die before
	fault  string           // the first thing that must not be
	encode bool             // updates go through their bytes
	log    []string         // the waiters that have fired, unless quiet
	quiet  bool
}

// simSlot is one slot with all its replicas, and the truth about its generations.
type simSlot struct {
	owner int
	Slot
	at    []Replica // of each rank
	truth []truth   // of generation 1, 2, ...
}

type truth struct {
	triggered bool
	why       *Poison
	parties   uint64 // ranks that have waited for it or triggered it
	messages  int
	told      uint64 // ranks that are told that the owner has died while it was pending
	forgotten int    // times that a rank has forgotten what it knew of it
	lost      bool   // its owner has forgotten the outcome
	late      uint64 // ranks that have asked since then
}

type simEvent struct {
	slot int
	gen  uint32
}

// job is a waiter and what it does.
type job struct {
	Waiter
	name      string
	rank      int
	slot      int
	gen       uint32
	merge     int // plus 1
	withdrawn bool
	fired     int
	got       *Poison
	atOnce    bool // its rank knew that the outcome has been forgotten
}

func (*job) Fire(*Waiter, any) {}

// merge triggers an event once all of its jobs have fired, or one with a poison.
type merge struct {
	rank, slot int
	gen        uint32
	left       int
	done       bool
}

type kind byte

const (
	subscribes kind = iota
	triggers
	updates
	notice // from has died
)

type message struct {
	kind     kind
	from, to int
	slot     int
	gen      uint32
	asked    bool
	why      *Poison
	poisoned *Poisons
	about    uint32 // the generation that counts the message
}

func (m message) String() string {
	if m.kind == notice {
		return fmt.Sprintf("%d>%d death", m.from, m.to)
	}
	name := [...]string{"subscribe", "trigger", "update"}[m.kind]
	return fmt.Sprintf("%d>%d %s %c.%d", m.from, m.to, name, 'a'+m.slot, m.gen)
}

func newSystem(ranks int, owners ...int) *system {
	x := &system{ranks: ranks, dead: make([]bool, ranks), by: map[simEvent]int{}}
	for _, o := range owners {
		x.slots = append(x.slots, simSlot{owner: o, at: make([]Replica, ranks)})
	}
	return x
}

func (x *system) failf(format string, args ...any) {
	if x.fault == "" {
		x.fault = fmt.Sprintf(format, args...)
	}
}

func (x *system) truth(slot int, gen uint32) *truth { return &x.slots[slot].truth[gen-1] }

// create begins the next generation of a slot.
func (x *system) create(slot int) uint32 {
	s := &x.slots[slot]
	gen := s.Create()
	s.truth = append(s.truth, truth{})
	if len(s.truth) != int(gen) {
		x.failf("generation %d of slot %d comes after %d others", gen, slot, len(s.truth)-1)
	}
	x.truth(slot, gen).parties = 1 << s.owner
	return gen
}

// wait begins a job.
func (x *system) wait(j *job) Status {
	s := &x.slots[j.slot]
	j.Op = j
	x.jobs = append(x.jobs, j)
	x.truth(j.slot, j.gen).parties |= 1 << j.rank
	var st Status
	var why *Poison
	ask := false
	if j.rank == s.owner {
		st, why = s.Wait(j.gen, &j.Waiter)
	} else {
		st, why, ask = s.at[j.rank].Wait(j.gen, &j.Waiter)
	}
	switch {
	case st == Triggered:
		j.Poison, j.atOnce = why, isForgotten(why)
		x.fire(j)
	case st == Unknown:
		x.failf("generation %d of slot %d is unknown to rank %d", j.gen, j.slot, j.rank)
	case ask && x.truth(j.slot, j.gen).told>>j.rank&1 != 0: // it has been told before, and has forgotten that
		x.run(s.at[j.rank].Die(died))
	case ask:
		x.send(message{kind: subscribes, from: j.rank, to: s.owner, slot: j.slot, gen: j.gen, about: j.gen})
	}
	return st
}

func (x *system) withdraw(j *job) (ok bool) {
	s := &x.slots[j.slot]
	if j.rank == s.owner {
		ok = s.Withdraw(j.gen, &j.Waiter)
	} else {
		ok = s.at[j.rank].Withdraw(j.gen, &j.Waiter)
	}
	j.withdrawn = j.withdrawn || ok
	return ok
}

// canForget tells whether a rank may forget what it knows of a slot.
func (x *system) canForget(rank, slot int) bool {
	s := &x.slots[slot]
	return rank != s.owner && s.at[rank].Idle()
}

// forget has a rank forget it. It may ask again, and get an answer, for each generation that there has been.
func (x *system) forget(rank, slot int) {
	s := &x.slots[slot]
	s.at[rank] = Replica{}
	for g := range s.truth {
		s.truth[g].forgotten++
	}
}

// canLose tells whether the owner of a slot may forget the outcomes of its generations.
func (x *system) canLose(slot int) bool { return !x.slots[slot].alive && len(x.slots[slot].truth) > 0 }

// lose has the owner forget them.
func (x *system) lose(slot int) {
	s := &x.slots[slot]
	s.Forget()
	for g := range s.truth {
		s.truth[g].lost = true
	}
}

// trigger is the one trigger of a generation.
func (x *system) trigger(rank, slot int, gen uint32, why *Poison) {
	t := x.truth(slot, gen)
	t.triggered, t.why = true, why
	t.parties |= 1 << rank
	s := &x.slots[slot]
	if rank == s.owner {
		x.atOwner(slot, gen, rank, why)
		return
	}
	asked := s.at[rank].Asked(gen)
	woken, st := s.at[rank].Trigger(gen, why)
	if st == Pending {
		x.send(message{
			kind: triggers, from: rank, to: s.owner, slot: slot, gen: gen, why: why, asked: asked, about: gen,
		})
	} else if !x.dead[s.owner] {
		x.failf("rank %d has found generation %d of slot %d in state %d before its trigger", rank, gen, slot, st)
	}
	x.run(woken)
}

func (x *system) atOwner(slot int, gen uint32, by int, why *Poison) {
	woken, tell, st := x.slots[slot].Trigger(gen, int32(by), why)
	if st != Pending {
		x.failf("rank %d has triggered generation %d of slot %d, which is in state %d", by, gen, slot, st)
	}
	tell.Each(func(rank int) { x.update(slot, rank, gen) })
	x.run(woken)
}

// update sends what the owner knows to rank, because of a generation.
func (x *system) update(slot, rank int, about uint32) {
	gen, poisoned := x.slots[slot].Update()
	x.sendUpdate(slot, rank, gen, poisoned, about)
}

func (x *system) sendUpdate(slot, rank int, gen uint32, poisoned *Poisons, about uint32) {
	s := &x.slots[slot]
	if x.encode {
		var err error
		if poisoned, err = ParsePoisons(poisoned.Append(nil)); err != nil {
			x.failf("%v", err)
		}
	}
	x.send(message{kind: updates, from: s.owner, to: rank, slot: slot, gen: gen, poisoned: poisoned, about: about})
}

func (x *system) send(m message) {
	if x.dead[m.from] {
		return
	}
	if m.from == m.to {
		x.failf("rank %d sends itself %v", m.to, m)
	}
	if m.kind != notice {
		x.truth(m.slot, m.about).messages++
	}
	if !x.dead[m.to] {
		x.msgs = append(x.msgs, m)
	}
}

// deliver has a message arrive.
func (x *system) deliver(i int) {
	m := x.msgs[i]
	x.msgs = slices.Delete(x.msgs, i, i+1)
	s := &x.slots[m.slot]
	switch m.kind {
	case subscribes:
		if t := x.truth(m.slot, m.gen); t.lost {
			t.late |= 1 << m.from
		}
		if st, answer := s.Subscribe(m.gen, int32(m.from)); answer {
			gen, poisoned := s.UpdateFor(m.gen)
			x.sendUpdate(m.slot, m.from, gen, poisoned, m.gen)
		} else if st == Unknown {
			x.failf("the owner does not know what %v is about", m)
		}
	case triggers:
		by := NoRank
		if m.asked {
			by = m.from
			s.Expect(m.gen, int32(m.from))
		}
		x.atOwner(m.slot, m.gen, by, m.why)
	case updates:
		if r := &s.at[m.to]; !r.Idle() {
			x.run(r.Update(m.gen, m.poisoned))
		}
	case notice:
		x.hear(m.to, m.from)
	}
}

// run has waiters fire, and all that follows from it.
func (x *system) run(woken List) {
	for w := woken.Pop(); w != nil; w = woken.Pop() {
		x.fire(w.Op.(*job))
	}
}

func (x *system) fire(j *job) {
	j.fired++
	j.got = j.Poison
	if !x.quiet {
		x.log = append(x.log, outcome(j.name+" fires", j.got))
	}
	if j.merge == 0 {
		return
	}
	m := &x.merges[j.merge-1]
	m.left--
	if !m.done && (m.left == 0 || j.got != nil) {
		m.done = true
		x.trigger(m.rank, m.slot, m.gen, j.got)
	}
}

var died = &Poison{Rank: NoRank, Text: "died"}

// die ends a rank. What it has sent arrives if it is not lost; then the others are told.
func (x *system) die(rank int, lost bool) {
	for r := range x.ranks {
		if r != rank && !x.dead[r] {
			x.send(message{kind: notice, from: rank, to: r})
		}
	}
	x.dead[rank] = true
	x.msgs = slices.DeleteFunc(x.msgs, func(m message) bool {
		return m.to == rank || lost && m.from == rank && m.kind != notice
	})
}

// hear tells rank that another has died.
func (x *system) hear(rank, dead int) {
	for i := range x.slots {
		s := &x.slots[i]
		switch {
		case s.owner == dead:
			for g := range s.truth {
				s.truth[g].told |= 1 << rank
			}
			x.run(s.at[rank].Die(died))
		case s.owner == rank:
			s.Unsubscribe(int32(dead))
			x.poisonFor(dead, i)
		}
	}
}

// poisonFor has the owner of a slot poison what a dead rank was to trigger.
func (x *system) poisonFor(dead, slot int) {
	s := &x.slots[slot]
	gen, alive := s.Alive()
	if by, ok := x.by[simEvent{slot, gen}]; alive && ok && by == dead {
		t := x.truth(slot, gen)
		t.triggered, t.why = true, died
		x.atOwner(slot, gen, s.owner, died)
	}
}

// deliverable tells whether a message may arrive now: a death is told after all that the dead rank has sent.
func (x *system) deliverable(i int) bool {
	m := x.msgs[i]
	return m.kind != notice || !slices.ContainsFunc(x.msgs, func(o message) bool {
		return o.kind != notice && o.from == m.from && o.to == m.to
	})
}
