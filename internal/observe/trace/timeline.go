package trace

import (
	"cmp"
	"slices"
)

// timeline is the parts of a job, and what their times mean.
type timeline struct {
	parts    []*part
	zero     int64 // time 0, on the clock of rank 0's machine
	machines map[string]*machine
}

// machine is the clocks of one machine.
type machine struct {
	ticks timeMap // ticks of the processor to the machine's clock
	shift timeMap // the machine's clock to that of rank 0's machine
}

// newTimeline puts parts of one job together. Ranks of one machine have the same ticks: all go by the notes of one, so
// that what one sends is not received before by another.
func newTimeline(parts []*part) *timeline {
	t := &timeline{parts: parts, machines: map[string]*machine{}}
	slices.SortFunc(parts, func(a, b *part) int { return cmp.Compare(a.Rank, b.Rank) })
	for _, p := range parts {
		m := t.machines[p.Machine]
		if m == nil {
			m = &machine{}
			t.machines[p.Machine] = m
		}
		if p.Ticks && len(m.ticks.from) == 0 {
			m.ticks = p.clockMap()
		}
		if p.Rank != 0 {
			m.learnClock(p.notes)
		}
	}
	t.findZero()
	return t
}

// clockMap is the way from the times of p's records to its machine's clock.
func (p *part) clockMap() (m timeMap) {
	for _, n := range p.notes {
		if !n.Sync {
			m.addPoint(int64(n.Now), n.Clock)
		}
	}
	return m
}

// learnClock takes what a rank knows of the clock of rank 0's machine. Of two ranks that know the one that came first
// counts.
func (m *machine) learnClock(notes []note) {
	if len(m.shift.from) > 0 {
		return
	}
	for _, n := range notes {
		if n.Sync {
			m.shift.addPoint(n.Clock, n.Theirs)
		}
	}
}

// findZero takes the beginning of the first part if no rank says when the job began.
func (t *timeline) findZero() {
	for _, p := range t.parts {
		if p.zero != nil {
			t.zero = *p.zero
			return
		}
	}
	for i, p := range t.parts {
		if len(p.notes) > 0 {
			if at := t.timeOf(p)(p.notes[0].Now); i == 0 || at < t.zero {
				t.zero = at
			}
		}
	}
}

// timeOf gives the function from times of p's records to the clock of rank 0's machine.
func (t *timeline) timeOf(p *part) func(uint64) int64 {
	m := t.machines[p.Machine]
	own := m.ticks
	if !p.Ticks {
		own = p.clockMap()
	}
	return func(now uint64) int64 { return m.shift.toScale(own.toScale(int64(now))) }
}
