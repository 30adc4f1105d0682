package events

import (
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/realm/internal/event"
)

// Replicas has what this rank knows of events of others: of those that it has waited for or triggered. It forgets what
// it has not needed for long, since the owner answers again. Without that it would grow with each slot that retires.
type Replicas struct {
	Shards [16]replicaShard
}

type replicaShard struct {
	Mu sync.Mutex // guards all of the shard; nothing is taken under it
	Of map[event.ID]*replica
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

// KeptReplicas is how many idle replicas a shard keeps.
const KeptReplicas = event.Exact / 16

// Recently is the place of e among the recent ones.
func (s *replicaShard) Recently(e event.ID) *event.ID {
	return &s.recent[uint64(e)*0x9E3779B97F4A7C15>>54%recents]
}

// Without is e without its generation, the key of a replica.
func Without(e event.ID) event.ID { return e &^ event.MaxGen }

func (rs *Replicas) Shard(e event.ID) *replicaShard {
	return &rs.Shards[uint64(Without(e))*0x9E3779B97F4A7C15>>60]
}

// Replica is the replica of e, which it makes if there is none. s.mu is held.
func (s *replicaShard) Replica(e event.ID) *replica {
	r := s.Of[Without(e)]
	if r == nil {
		if s.Of == nil {
			s.Of = make(map[event.ID]*replica)
		}
		r = new(replica)
		s.Of[Without(e)] = r
	}
	return r
}

// Rested notes that r, the replica of e, may have become idle, and forgets the one that has been so for the longest.
// s.mu is held.
func (s *replicaShard) Rested(e event.ID, r *replica) {
	if r.listed || !r.Idle() {
		return
	}
	r.listed = true
	if len(s.idle) < KeptReplicas {
		s.idle = append(s.idle, Without(e))
		return
	}
	old := s.idle[s.next]
	s.idle[s.next] = Without(e)
	s.next = (s.next + 1) % KeptReplicas
	if x := s.Of[old]; x.Idle() {
		delete(s.Of, old)
	} else {
		x.listed = false
	}
}

func (rs *Replicas) LookAtReplica(e event.ID) (event.Status, *event.Poison) {
	s := rs.Shard(e)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if *s.Recently(e) == e {
		return event.Triggered, nil
	}
	if r := s.Of[Without(e)]; r != nil {
		return r.Look(e.Gen())
	}
	return event.Pending, nil
}

// eachReplica calls f for all replicas, with their key, under the lock of their shard.
func (rs *Replicas) eachReplica(f func(e event.ID, r *replica)) {
	for i := range rs.Shards {
		s := &rs.Shards[i]
		s.Mu.Lock()
		for e, r := range s.Of {
			f(e, r)
		}
		s.Mu.Unlock()
	}
}

func (rs *Replicas) withdraw(e event.ID, w *event.Waiter) bool {
	s := rs.Shard(e)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	r := s.Of[Without(e)]
	return r != nil && r.Withdraw(e.Gen(), w)
}

// awaitRemote is AwaitEvent for an event of another rank, which it asks once.
func (rt *Rank) awaitRemote(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	s := rt.Replicas.Shard(e)
	s.Mu.Lock()
	if *s.Recently(e) == e {
		s.Mu.Unlock()
		return event.Triggered, nil
	}
	st, why, ask := s.Replica(e).Wait(e.Gen(), w)
	s.Mu.Unlock()
	if ask {
		rt.subscribe(e)
	}
	return st, why
}

// LearnEvent asks the owner of an event, another rank, of which this rank knows nothing, unless it has been asked.
func (rt *Rank) LearnEvent(e event.ID) {
	s := rt.Replicas.Shard(e)
	s.Mu.Lock()
	ask := s.Replica(e).Ask(e.Gen())
	s.Mu.Unlock()
	if ask {
		rt.subscribe(e)
	}
}

// subscribe asks the owner of e.
func (rt *Rank) subscribe(e event.ID) {
	rt.PostMessage(e.EventRank(), HSubscribe, nil, uint64(e))
	if rt.Endpoint.Gone(e.EventRank()) {
		k := rt.BeginCascade(nil)
		k.ownerGone(e)
		k.EndCascade(CallBudget)
	}
}

// ownerGone ends the waits for the event e, whose owner has died.
func (k *Cascade) ownerGone(e event.ID) {
	s := k.Rank.Replicas.Shard(e)
	s.Mu.Lock()
	r := s.Replica(e)
	woken := r.Die(k.Rank.LostWith(e.EventRank()))
	s.Rested(e, r)
	s.Mu.Unlock()
	k.List.Append(&woken)
}

// triggerRemote triggers an event of another rank.
func (k *Cascade) triggerRemote(e event.ID, why *event.Poison) event.Status {
	if e.EventRank() >= k.Rank.Size || e.Gen() == 0 {
		return event.Unknown
	}
	asked, st := k.Assume(e, why)
	if st == event.Pending {
		k.Rank.PostPoison(e.EventRank(), HTrigger, BytesOfPoison(why), uint64(e), asked)
	}
	return st
}

// Assume has this rank take e, of another rank, for triggered. If it was not, the caller tells the owner. asked is 1 if
// this rank has subscribed before.
func (k *Cascade) Assume(e event.ID, why *event.Poison) (asked uint64, st event.Status) {
	switch k.Rank.Replicas.noteTriggered(e, why) {
	case noted:
		return 0, event.Pending
	case notedBefore:
		return 0, event.Triggered
	}
	s := k.Rank.Replicas.Shard(e)
	s.Mu.Lock()
	r := s.Replica(e)
	if r.Asked(e.Gen()) {
		asked = 1
	}
	woken, st := r.Trigger(e.Gen(), why)
	s.Rested(e, r)
	s.Mu.Unlock()
	k.List.Append(&woken)
	return asked, st
}

// What note has done.
const (
	replicaKnows = iota // nothing, because the replica is to know
	noted
	notedBefore
)

// noteTriggered notes that e is triggered here, unless it has a replica or is poisoned.
func (rs *Replicas) noteTriggered(e event.ID, why *event.Poison) int {
	s := rs.Shard(e)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	p := s.Recently(e)
	switch {
	case *p == e:
		return notedBefore
	case why != nil || s.Of[Without(e)] != nil:
		return replicaKnows
	}
	*p = e
	return noted
}

// tellRanks tells ranks that e has triggered, and which generations of its slot are poisoned.
func (rt *Rank) tellRanks(ranks *event.Ranks, e event.ID, poisoned *event.Poisons) {
	b := poisoned.Append(nil)
	ranks.Each(func(r int) { rt.PostPoison(r, HUpdate, b, uint64(e)) })
}

// OnSubscribe: another rank waits for an event of this one.
func (rt *Rank) OnSubscribe(t *am.Token, args []uint64, _ []byte) {
	e := event.ID(args[0])
	if !rt.Owns(e) {
		rt.Malformed(t, "a subscription to", e)
		return
	}
	c := rt.Events.CellAt(e.EventIndex())
	if c == nil {
		rt.tellNone(t.Source(), e)
		return
	}
	c.Lock.Lock()
	st, answer := c.Slot.Subscribe(e.Gen(), int32(t.Source()))
	var gen uint32
	var poisoned *event.Poisons
	if answer {
		gen, poisoned = c.Slot.UpdateFor(e.Gen())
	}
	c.Lock.Unlock()
	switch {
	case st == event.Unknown:
		rt.tellNone(t.Source(), e)
	case answer:
		newest := event.MakeEvent(rt.Self, int(c.Index), gen)
		rt.PostPoison(t.Source(), HUpdate, poisoned.Append(nil), uint64(newest))
	}
}

// Nobody stands for the rank that has triggered an event, if that wants to be told like others when it asks.
const Nobody = event.NoRank

// TakeTrigger: another rank has triggered an event of this one.
func (rt *Rank) TakeTrigger(k *Cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	why, err := PoisonIn(payload)
	if err != nil || !rt.Owns(e) {
		return rt.Impossible(src, "a trigger of", e)
	}
	by := Nobody
	if len(args) > 1 && args[1] != 0 { // that rank has asked for e before, and so does not want an answer
		by = src
		rt.Events.expectSubscription(e, by)
	}
	if k.TriggerOwn(e, by, why) == event.Unknown {
		rt.tellNone(src, e)
	}
	return nil
}

// tellNone tells a rank that there is no event of this rank with the number that it has sent. The program there has
// made it up.
func (rt *Rank) tellNone(to int, e event.ID) { rt.PostMessage(to, HNone, nil, uint64(e)) }

// OnNone: there is no such event of the other rank, which this rank has asked for or wanted to trigger.
func (rt *Rank) OnNone(t *am.Token, args []uint64, _ []byte) {
	e := event.ID(args[0])
	if !e.IsEvent() || e.EventRank() != t.Source() || e.Gen() == 0 {
		rt.Malformed(t, "the lack of", e)
		return
	}
	k := rt.BeginCascade(t.Worker())
	s := rt.Replicas.Shard(e)
	why := rt.FaultPoison(rt.UnknownID("event", e))
	s.Mu.Lock()
	if p := s.Recently(e); *p == e {
		*p = 0
	}
	r := s.Replica(e)
	woken := r.Deny(e.Gen(), why)
	s.Rested(e, r)
	s.Mu.Unlock()
	k.List.Append(&woken)
	k.EndCascade(PollBudget)
}

// TakeUpdate: the owner of an event tells that it has triggered.
func (rt *Rank) TakeUpdate(k *Cascade, src int, args []uint64, payload []byte) error {
	e := event.ID(args[0])
	poisoned, err := event.ParsePoisons(payload)
	if err != nil || !e.IsEvent() || e.EventRank() != src {
		return rt.Impossible(src, "an update of", e)
	}
	s := rt.Replicas.Shard(e)
	s.Mu.Lock()
	if r := s.Of[Without(e)]; r != nil { // else this rank has forgotten the event, and does not wait for it
		woken := r.Update(e.Gen(), poisoned)
		s.Rested(e, r)
		k.List.Append(&woken)
	}
	s.Mu.Unlock()
	return nil
}

func (rt *Rank) Owns(e event.ID) bool { return e.IsEvent() && e.EventRank() == rt.Self }
