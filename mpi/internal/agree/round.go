package agree

import "slices"

// findInstance is the agreement with that number, or nil.
func (s *Series) findInstance(number uint64) *instance {
	for _, i := range s.open {
		if i.number == number {
			return i
		}
	}
	return nil
}

// instance is the agreement with that number, which is made if it is new.
func (s *Series) instance(number uint64) *instance {
	i := s.findInstance(number)
	if i == nil {
		i = &instance{number: number, round: -1, acks: NewSet(s.ranks)}
		s.open = append(s.open, i)
	}
	return i
}

// sendTo sends a message, unless it is known that nobody would get it.
func (s *Series) sendTo(to int, m Message) {
	if to == Caller || s.lives(to) {
		s.out = append(s.out, Action{to, m})
	}
}

func (s *Series) doneActions() []Action {
	out := s.out
	s.out = nil
	return out
}

// lives tells whether a rank lives, as far as this rank knows. One that has failed does not live again.
func (s *Series) lives(rank int) bool {
	s.looks++
	return !s.failed.Has(rank)
}

// coordinator is the lowest rank that lives, as far as this rank knows.
func (s *Series) coordinator() int {
	for !s.lives(s.lowest) {
		s.lowest++
	}
	return s.lowest
}

// vote tells the coordinator what this rank has, unless it has told it. Ranks that know the decision vote, too: a new
// coordinator waits for all.
func (s *Series) vote(i *instance) {
	c := s.coordinator()
	if !i.called || i.round == c {
		return
	}
	i.round = c
	m := Message{Number: i.number, Kind: Vote, Stage: i.stage, Round: c, Value: i.value}
	if i.stage == Brought {
		m.Value.Failed = s.failed
	}
	if c == s.self {
		s.takeVote(i, c, m)
	} else {
		s.sendTo(c, m)
	}
}

// takeVote keeps a vote. The sender knows that all ranks below this one have failed, which this rank may not know yet.
func (s *Series) takeVote(i *instance, from int, m Message) {
	if i.votes == nil {
		i.votes = newTally(s.ranks)
	}
	i.votes.addVote(from, m)
	if i.stage == Decided && m.Stage != Decided && from != s.self {
		s.sendTo(from, Message{Number: i.number, Kind: Decide, Stage: Decided, Round: s.self, Value: i.value})
	}
	s.advanceInstance(i)
}

// advanceInstance does what the coordinator can do: propose, when all living ranks have voted, and decide, when all of
// them have locked the proposal.
func (s *Series) advanceInstance(i *instance) {
	if i.stage == Decided || !i.called || s.coordinator() != s.self {
		return
	}
	if !i.proposed {
		if i.votes == nil || !s.holdsForAll(&i.voted, i.votes.voted.Has) {
			return
		}
		s.propose(i)
	}
	if i.stage != Decided && s.holdsForAll(&i.acked, i.acks.Has) {
		s.decide(i, i.value)
	}
}

// holdsForAll tells whether something holds for all ranks that live, as far as this rank knows. It holds for those
// below low, or they have failed, which does not change any more. So the messages of an agreement cost one look at each
// rank together.
func (s *Series) holdsForAll(low *int, holds func(rank int) bool) bool {
	for ; *low < s.ranks; *low++ {
		if s.lives(*low) && !holds(*low) {
			return false
		}
	}
	return true
}

// propose chooses the value for which the votes are. It is a copy, because votes of the dead may still come.
func (s *Series) propose(i *instance) {
	best := i.votes.best
	best.Value = best.Value.clone()
	if best.Stage == Brought {
		best.Value.Failed.Join(s.failed)
	}
	if best.Stage == Decided {
		s.decide(i, best.Value)
		return
	}
	i.proposed = true
	i.stage, i.value = Locked, best.Value
	i.acks.Add(s.self)
	s.tellVoters(i, Propose)
}

// tellVoters sends the value to all who have voted, unless they know it to be decided.
func (s *Series) tellVoters(i *instance, kind Kind) {
	if i.votes == nil {
		return
	}
	for r := range i.votes.voted.subtractSet(i.votes.knows).All() {
		if r != s.self {
			s.sendTo(r, Message{Number: i.number, Kind: kind, Stage: i.stage, Round: s.self, Value: i.value})
		}
	}
}

// takeProposal locks a value. A proposal of a rank that is coordinator no more comes too late: this rank has told the
// next one that it has not locked it.
func (s *Series) takeProposal(i *instance, from int, m Message) {
	if s.coordinator() != from {
		return
	}
	if i.stage != Decided {
		i.stage, i.value = Locked, m.Value
	}
	s.sendTo(from, Message{Number: i.number, Kind: Ack, Round: from})
}

// decide ends an agreement here. The coordinator tells the others. All living ranks have voted, so none needs the
// agreement before this one any more.
func (s *Series) decide(i *instance, v Value) {
	if i.stage == Decided {
		return
	}
	i.stage, i.value = Decided, v
	s.open = slices.DeleteFunc(s.open, func(o *instance) bool { return o.number < i.number })
	s.sendTo(Caller, Message{Number: i.number, Kind: Decide, Stage: Decided, Round: s.self, Value: v.clone()})
	s.tellVoters(i, Decide)
	s.learnFailed(v.Failed)
}

// learnFailed takes note of failures. Where the coordinator was among them, this rank votes again, or is the
// coordinator now.
func (s *Series) learnFailed(failed Set) {
	news := failed.subtractSet(s.failed)
	if news.Len() == 0 || news.Has(s.self) {
		return
	}
	s.failed = slices.Clone(s.failed) // messages share it
	s.failed.Join(news)
	for _, i := range slices.Clone(s.open) {
		s.vote(i)
		s.advanceInstance(i)
	}
}
