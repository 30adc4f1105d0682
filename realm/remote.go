package realm

import (
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
)

// replicas has what this rank knows of events of others: of those that it has waited for or triggered. It forgets what
// it has not needed for long, since the owner answers again. Without that it would grow with each slot that retires.
type replicas struct {
	shards [16]replicaShard
}

type replicaShard struct {
	mu sync.Mutex // guards all of the shard; nothing is taken under it
	of map[event.ID]*replica
	// idle are the keys of replicas that were idle when they were put in, the oldest at next once it is full.
	idle []event.ID
	next int
	// recent are events that this rank has triggered, by their hash. Nobody here has waited for them, so that they have
	// no replica. The owner answers a question about them, as this rank forgets them.
	recent [recents]event.ID
}

// replica is what this rank knows of one slot.
type replica struct {
	event.Replica
	listed bool // it is in idle
}

const recents = 64

// keptReplicas is how many idle replicas a shard keeps.
const keptReplicas = event.Exact / 16

// recently is the place of e among the recent ones.
func (s *replicaShard) recently(e event.ID) *event.ID {
	return &s.recent[uint64(e)*0x9E3779B97F4A7C15>>54%recents]
}

// without is e without its generation, the key of a replica.
func without(e event.ID) event.ID { return e &^ event.MaxGen }

func (rs *replicas) shard(e event.ID) *replicaShard {
	return &rs.shards[uint64(without(e))*0x9E3779B97F4A7C15>>60]
}

// replica is the replica of e, which it makes if there is none. s.mu is held.
func (s *replicaShard) replica(e event.ID) *replica {
	r := s.of[without(e)]
	if r == nil {
		if s.of == nil {
			s.of = make(map[event.ID]*replica)
		}
		r = new(replica)
		s.of[without(e)] = r
	}
	return r
}

// rested notes that r, the replica of e, may have become idle, and forgets the one that has been so for the longest.
// s.mu is held.
func (s *replicaShard) rested(e event.ID, r *replica) {
	if r.listed || !r.Idle() {
		return
	}
	r.listed = true
	if len(s.idle) < keptReplicas {
		s.idle = append(s.idle, without(e))
		return
	}
	old := s.idle[s.next]
	s.idle[s.next] = without(e)
	s.next = (s.next + 1) % keptReplicas
	if x := s.of[old]; x.Idle() {
		delete(s.of, old)
	} else {
		x.listed = false
	}
}

func (rs *replicas) lookAtReplica(e event.ID) (event.Status, *event.Poison) {
	s := rs.shard(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	if *s.recently(e) == e {
		return event.Triggered, nil
	}
	if r := s.of[without(e)]; r != nil {
		return r.Look(e.Gen())
	}
	return event.Pending, nil
}

// eachReplica calls f for all replicas, with their key, under the lock of their shard.
func (rs *replicas) eachReplica(f func(e event.ID, r *replica)) {
	for i := range rs.shards {
		s := &rs.shards[i]
		s.mu.Lock()
		for e, r := range s.of {
			f(e, r)
		}
		s.mu.Unlock()
	}
}

func (rs *replicas) withdraw(e event.ID, w *event.Waiter) bool {
	s := rs.shard(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of[without(e)]
	return r != nil && r.Withdraw(e.Gen(), w)
}

// awaitRemote is awaitEvent for an event of another rank, which it asks once.
func (rt *rankEvents) awaitRemote(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	s := rt.replicas.shard(e)
	s.mu.Lock()
	if *s.recently(e) == e {
		s.mu.Unlock()
		return event.Triggered, nil
	}
	st, why, ask := s.replica(e).Wait(e.Gen(), w)
	s.mu.Unlock()
	if ask {
		rt.subscribe(e)
	}
	return st, why
}

// learnEvent asks the owner of an event, another rank, of which this rank knows nothing, unless it has been asked.
func (rt *rankEvents) learnEvent(e event.ID) {
	s := rt.replicas.shard(e)
	s.mu.Lock()
	ask := s.replica(e).Ask(e.Gen())
	s.mu.Unlock()
	if ask {
		rt.subscribe(e)
	}
}

// subscribe asks the owner of e.
func (rt *rankEvents) subscribe(e event.ID) {
	rt.postMessage(e.EventRank(), hSubscribe, nil, uint64(e))
	if rt.ep.Gone(e.EventRank()) {
		k := rt.beginCascade(nil)
		k.ownerGone(e)
		k.endCascade(callBudget)
	}
}

// ownerGone ends the waits for the event e, whose owner has died.
func (k *cascade) ownerGone(e event.ID) {
	s := k.rt.replicas.shard(e)
	s.mu.Lock()
	r := s.replica(e)
	woken := r.Die(k.rt.lostWith(e.EventRank()))
	s.rested(e, r)
	s.mu.Unlock()
	k.list.Append(&woken)
}

// triggerRemote triggers an event of another rank.
func (k *cascade) triggerRemote(e event.ID, why *event.Poison) event.Status {
	if e.EventRank() >= k.rt.size || e.Gen() == 0 {
		return event.Unknown
	}
	asked, st := k.assume(e, why)
	if st == event.Pending {
		k.rt.postPoison(e.EventRank(), hTrigger, bytesOfPoison(why), uint64(e), asked)
	}
	return st
}

// assume has this rank take e, of another rank, for triggered. If it was not, the caller tells the owner. asked is 1 if
// this rank has subscribed before.
func (k *cascade) assume(e event.ID, why *event.Poison) (asked uint64, st event.Status) {
	switch k.rt.replicas.noteTriggered(e, why) {
	case noted:
		return 0, event.Pending
	case notedBefore:
		return 0, event.Triggered
	}
	s := k.rt.replicas.shard(e)
	s.mu.Lock()
	r := s.replica(e)
	if r.Asked(e.Gen()) {
		asked = 1
	}
	woken, st := r.Trigger(e.Gen(), why)
	s.rested(e, r)
	s.mu.Unlock()
	k.list.Append(&woken)
	return asked, st
}

// What note has done.
const (
	replicaKnows = iota // nothing, because the replica is to know
	noted
	notedBefore
)

// noteTriggered notes that e is triggered here, unless it has a replica or is poisoned.
func (rs *replicas) noteTriggered(e event.ID, why *event.Poison) int {
	s := rs.shard(e)
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.recently(e)
	switch {
	case *p == e:
		return notedBefore
	case why != nil || s.of[without(e)] != nil:
		return replicaKnows
	}
	*p = e
	return noted
}

// tellRanks tells ranks that e has triggered, and which generations of its slot are poisoned.
func (rt *rankEvents) tellRanks(ranks *event.Ranks, e event.ID, poisoned *event.Poisons) {
	b := poisoned.Append(nil)
	ranks.Each(func(r int) { rt.postPoison(r, hUpdate, b, uint64(e)) })
}

// onSubscribe: another rank waits for an event of this one.
func (rt *rankEvents) onSubscribe(t *am.Token, args []uint64, _ []byte) {
	e := event.ID(args[0])
	if !rt.owns(e) {
		rt.malformed(t, "a subscription to", e)
		return
	}
	c := rt.events.cellAt(e.EventIndex())
	if c == nil {
		rt.tellNone(t.Source(), e)
		return
	}
	c.lock.Lock()
	st, answer := c.slot.Subscribe(e.Gen(), int32(t.Source()))
	var gen uint32
	var poisoned *event.Poisons
	if answer {
		gen, poisoned = c.slot.UpdateFor(e.Gen())
	}
	c.lock.Unlock()
	switch {
	case st == event.Unknown:
		rt.tellNone(t.Source(), e)
	case answer:
		newest := event.MakeEvent(rt.rank, int(c.index), gen)
		rt.postPoison(t.Source(), hUpdate, poisoned.Append(nil), uint64(newest))
	}
}

// nobody stands for the rank that has triggered an event, if that wants to be told like others when it asks.
const nobody = event.NoRank

// takeTrigger: another rank has triggered an event of this one.
func (rt *rankEvents) takeTrigger(k *cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	why, err := poisonIn(payload)
	if err != nil || !rt.owns(e) {
		return rt.impossible(src, "a trigger of", e)
	}
	by := nobody
	if len(args) > 1 && args[1] != 0 { // that rank has asked for e before, and so does not want an answer
		by = src
		rt.events.expectSubscription(e, by)
	}
	if k.triggerOwn(e, by, why) == event.Unknown {
		rt.tellNone(src, e)
	}
	return nil
}

// tellNone tells a rank that there is no event of this rank with the number that it has sent. The program there has
// made it up.
func (rt *rankEvents) tellNone(to int, e event.ID) { rt.postMessage(to, hNone, nil, uint64(e)) }

// onNone: there is no such event of the other rank, which this rank has asked for or wanted to trigger.
func (rt *rankEvents) onNone(t *am.Token, args []uint64, _ []byte) {
	e := event.ID(args[0])
	if !e.IsEvent() || e.EventRank() != t.Source() || e.Gen() == 0 {
		rt.malformed(t, "the lack of", e)
		return
	}
	k := rt.beginCascade(t.Worker())
	s := rt.replicas.shard(e)
	why := rt.faultPoison(rt.unknownID("event", e))
	s.mu.Lock()
	if p := s.recently(e); *p == e {
		*p = 0
	}
	r := s.replica(e)
	woken := r.Deny(e.Gen(), why)
	s.rested(e, r)
	s.mu.Unlock()
	k.list.Append(&woken)
	k.endCascade(pollBudget)
}

// takeUpdate: the owner of an event tells that it has triggered.
func (rt *rankEvents) takeUpdate(k *cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	poisoned, err := event.ParsePoisons(payload)
	if err != nil || !e.IsEvent() || e.EventRank() != src {
		return rt.impossible(src, "an update of", e)
	}
	s := rt.replicas.shard(e)
	s.mu.Lock()
	if r := s.of[without(e)]; r != nil { // else this rank has forgotten the event, and does not wait for it
		woken := r.Update(e.Gen(), poisoned)
		s.rested(e, r)
		k.list.Append(&woken)
	}
	s.mu.Unlock()
	return nil
}

func (rt *rankEvents) owns(e event.ID) bool { return e.IsEvent() && e.EventRank() == rt.rank }
