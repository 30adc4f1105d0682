package agree

// tally is the votes that a coordinator has got, folded as they come: some bits for each rank, however long the votes.
type tally struct {
	voted Set     // who has voted
	knows Set     // of these, who knows the value to be decided
	best  Message // the value to propose, but for failures that the coordinator has learned of
}

func newTally(ranks int) *tally {
	return &tally{
		voted: NewSet(ranks), knows: NewSet(ranks),
		best: Message{Value: Value{^uint64(0), NewSet(ranks), full(ranks)}},
	}
}

// addVote counts a vote. A decided value goes before a locked one, and that before what the ranks bring. A rank's
// second vote has no effect.
func (t *tally) addVote(from int, m Message) {
	if t.voted.Has(from) {
		return
	}
	t.voted.Add(from)
	if m.Stage == Decided {
		t.knows.Add(from)
	}
	switch {
	case m.Stage > t.best.Stage:
		t.best = m // nothing is folded into it, so its sets may be shared
	case m.Stage == Brought && t.best.Stage == Brought:
		t.best.Value.combineWith(m.Value)
	}
}

// full is the set of all ranks.
func full(ranks int) Set {
	s := NewSet(ranks)
	for r := range ranks {
		s.Add(r)
	}
	return s
}
