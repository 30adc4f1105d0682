package realm

import (
	"sync"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/internal/realm/event"
)

// replicas has what this rank knows of events of others: of those that it has waited for or triggered.
type replicas struct {
	shards [16]replicaShard
}

type replicaShard struct {
	mu sync.Mutex // guards all of the shard; nothing is taken under it
	of map[event.ID]*event.Replica
	// recent are events that this rank has triggered, by their hash. Nobody here has waited for them, so that they have
	// no replica. The owner answers a question about them, as this rank forgets them.
	recent [recents]event.ID
}

const recents = 64

// recently is the place of e among the recent ones.
func (s *replicaShard) recently(e event.ID) *event.ID {
	return &s.recent[uint64(e)*0x9E3779B97F4A7C15>>54%recents]
}

// without is e without its generation, the key of a replica.
func without(e event.ID) event.ID { return e &^ event.MaxGen }

func (rs *replicas) shard(e event.ID) *replicaShard {
	return &rs.shards[uint64(without(e))*0x9E3779B97F4A7C15>>60]
}

// lock returns the replica of e, which it makes if there is none, and its shard, which the caller unlocks.
func (rs *replicas) lock(e event.ID) (*event.Replica, *replicaShard) {
	s := rs.shard(e)
	s.mu.Lock()
	return s.replica(e), s
}

// replica is the replica of e, which it makes if there is none. s.mu is held.
func (s *replicaShard) replica(e event.ID) *event.Replica {
	r := s.of[without(e)]
	if r == nil {
		if s.of == nil {
			s.of = make(map[event.ID]*event.Replica)
		}
		r = new(event.Replica)
		s.of[without(e)] = r
	}
	return r
}

func (rs *replicas) look(e event.ID) (event.Status, *event.Poison) {
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

func (rs *replicas) withdraw(e event.ID, w *event.Waiter) bool {
	r, s := rs.lock(e)
	defer s.mu.Unlock()
	return r.Withdraw(e.Gen(), w)
}

// awaitRemote is await for an event of another rank, whom it asks once.
func (rt *Runtime) awaitRemote(e event.ID, w *event.Waiter) (event.Status, *event.Poison) {
	s := rt.replicas.shard(e)
	s.mu.Lock()
	if *s.recently(e) == e {
		s.mu.Unlock()
		return event.Triggered, nil
	}
	st, why, ask := s.replica(e).Wait(e.Gen(), w)
	s.mu.Unlock()
	if ask {
		rt.post(e.EventRank(), hSubscribe, nil, uint64(e))
		if rt.ep.Gone(e.EventRank()) {
			k := rt.begin(nil)
			k.ownerGone(e)
			k.end(callBudget)
		}
	}
	return st, why
}

// ownerGone ends the waits for the event e, whose owner has died.
func (k *cascade) ownerGone(e event.ID) {
	r, s := k.rt.replicas.lock(e)
	woken := r.Die(k.rt.deathOf(e.EventRank()))
	s.mu.Unlock()
	k.list.Append(&woken)
}

// triggerRemote triggers an event of another rank.
func (k *cascade) triggerRemote(e event.ID, why *event.Poison) event.Status {
	if e.EventRank() >= k.rt.size || e.Gen() == 0 {
		return event.Unknown
	}
	switch k.rt.replicas.note(e, why) {
	case noted:
		k.rt.post(e.EventRank(), hTrigger, nil, uint64(e), forgets)
		return event.Pending
	case notedBefore:
		return event.Triggered
	}
	r, s := k.rt.replicas.lock(e)
	knows := uint64(remembers)
	if r.Asked(e.Gen()) {
		knows = asked
	}
	woken, st := r.Trigger(e.Gen(), why)
	s.mu.Unlock()
	if st == event.Pending {
		k.list.Append(&woken)
		var text []byte
		if why != nil {
			text = why.Append(nil)
		}
		k.rt.post(e.EventRank(), hTrigger, text, uint64(e), knows)
	}
	return st
}

// Whether a rank that triggers an event of another one knows that for good.
const (
	remembers = 0
	forgets   = 1
	asked     = 2 // for good, and it has subscribed before
)

// What note has done.
const (
	replicaKnows = iota // nothing, because the replica is to know
	noted
	notedBefore
)

// note notes that e is triggered here, unless it has a replica or is poisoned.
func (rs *replicas) note(e event.ID, why *event.Poison) int {
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

// tell tells ranks that e has triggered, and which generations of its slot are poisoned.
func (rt *Runtime) tell(ranks *event.Ranks, e event.ID, poisoned *event.Poisons) {
	b := poisoned.Append(nil)
	ranks.Each(func(r int) { rt.post(r, hUpdate, b, uint64(e)) })
}

// onSubscribe: another rank waits for an event of this one.
func (rt *Runtime) onSubscribe(t *am.Token, args []uint64, _ []byte) {
	e := event.ID(args[0])
	c := rt.events.at(e.EventIndex())
	if c == nil || !rt.owns(e) {
		rt.malformed(t, "a subscription to", e)
		return
	}
	c.lock.Lock()
	st, answer := c.slot.Subscribe(e.Gen(), int32(t.Source()))
	gen, poisoned := c.slot.Update()
	c.lock.Unlock()
	switch {
	case st == event.Unknown:
		rt.malformed(t, "a subscription to", e)
	case answer:
		newest := event.MakeEvent(rt.rank, int(c.index), gen)
		rt.post(t.Source(), hUpdate, poisoned.Append(nil), uint64(newest))
	}
}

// nobody is who has triggered an event, where that rank wants to be told like others.
const nobody = -1

// onTrigger: another rank has triggered an event of this one.
func (rt *Runtime) onTrigger(t *am.Token, args []uint64, payload []byte) {
	e := event.ID(args[0])
	var why *event.Poison
	var err error
	if len(payload) > 0 {
		why, _, err = event.ParsePoison(payload)
	}
	if err != nil || !rt.owns(e) {
		rt.malformed(t, "a trigger of", e)
		return
	}
	by := t.Source()
	switch args[1] {
	case forgets:
		by = nobody
	case asked:
		rt.events.expectSubscription(e, by)
	}
	k := rt.begin(t.Worker())
	if k.triggerOwn(e, by, why) == event.Unknown {
		rt.malformed(t, "a trigger of", e)
	}
	k.end(pollBudget)
}

// onUpdate: the owner of an event tells that it has triggered.
func (rt *Runtime) onUpdate(t *am.Token, args []uint64, payload []byte) {
	e := event.ID(args[0])
	poisoned, err := event.ParsePoisons(payload)
	if err != nil || !e.IsEvent() || e.EventRank() != t.Source() {
		rt.malformed(t, "an update of", e)
		return
	}
	k := rt.begin(t.Worker())
	r, s := rt.replicas.lock(e)
	woken := r.Update(e.Gen(), poisoned)
	s.mu.Unlock()
	k.list.Append(&woken)
	k.end(pollBudget)
}

func (rt *Runtime) owns(e event.ID) bool { return e.IsEvent() && e.EventRank() == rt.rank }
