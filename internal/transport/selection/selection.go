// Package selection picks the cheapest of a few candidates to do a job by what each has cost lately. It looks again and
// again, because what is cheap changes while a program runs. It reads no clock and has no lock.
package selection

// Most is the largest number of candidates of a Picker.
const Most = 4

// Trials is how many uses tell what a candidate costs. The least of them counts: what disturbs a use makes it longer,
// never shorter.
const Trials = 3

const (
	loss        = 0.02       // share of the time that the trials of one candidate may cost
	minTrialGap = 48         // uses between two groups of trials of a candidate, at least
	latest      = 4096       // and at most
	mostAsked   = 2 * Trials // uses in a group of trials, with those that tell nothing
	noteWait    = 64         // uses for which the notes of a group are awaited
	hopeless    = 1.5        // times the cost of the best candidate, after which two trials of another are enough
)

// Picker picks among the candidates 0 to n-1. Candidate 0 is used until others are known to be cheaper. The owner keeps
// its calls apart. The zero value has one candidate.
type Picker struct {
	others     int // candidates beside one
	best       int
	trial      int // the candidate under trial, if asked > 0
	asked      int // uses of it that were picked, one after another
	lost       int // those of which no cost could be told
	since      int // uses since the first of them
	candidates [Most]candidate
}

// candidate is what is known of one candidate.
type candidate struct {
	cost  float64 // least of the last whole group, for the best candidate of the last two; 0 if there is none
	last  float64 // least of the last whole group
	least float64 // of the group that is being noted
	notes int     // in that group
	rest  int     // uses before its next trials
}

// New makes a Picker of n candidates, 1 to Most.
func New(n int) Picker { return Picker{others: min(max(n, 1), Most) - 1} }

// Pick is the candidate for the next use.
func (p *Picker) Pick() int {
	if p.asked > 0 {
		return p.onTrial()
	}
	for w := 0; w <= p.others; w++ {
		if x := &p.candidates[w]; w != p.best || x.cost == 0 {
			if x.rest--; x.rest <= 0 {
				p.trial, p.asked, p.lost, p.since = w, 1, 0, 0
				x.notes = 0
				return w
			}
		}
	}
	return p.best
}

// onTrial is Pick while a group of trials is under way. They follow one another, whether the one before is noted yet or
// not: what else the machine does may adapt itself to a candidate. Until all are noted the best candidate is used.
func (p *Picker) onTrial() int {
	if p.since++; p.since > noteWait {
		p.endTrials()
		return p.best
	}
	if p.asked-p.lost < Trials && p.asked < mostAsked {
		p.asked++
		return p.trial
	}
	return p.best
}

// Note tells what a use of candidate w has cost. All costs of one Picker are of one unit, more than 0.
func (p *Picker) Note(w int, cost float64) {
	if w < 0 || w > p.others || !(cost > 0) {
		return
	}
	x := &p.candidates[w]
	if x.notes == 0 || cost < x.least {
		x.least = cost
	}
	if x.notes++; x.notes < Trials && !p.isHopeless(w) {
		return
	}
	if x.notes, x.cost = 0, x.least; w == p.best && x.last > 0 {
		x.cost = min(x.least, x.last)
	}
	x.last = x.least
	p.choose()
	if p.asked > 0 && w == p.trial {
		p.endTrials()
	}
}

// Lose tells that a use of candidate w has no cost that could be told. Another one is tried in its place, but not for
// ever.
func (p *Picker) Lose(w int) {
	if p.asked > 0 && w == p.trial {
		p.lost++
	}
}

// isHopeless tells that candidate w is under trial, and has cost much more than the best one twice. The first use of a
// candidate that has rested finds its memory in no cache, and the first uses ever find none that is mapped.
func (p *Picker) isHopeless(w int) bool {
	x, best := &p.candidates[w], p.candidates[p.best].cost
	return p.asked > 0 && w == p.trial && w != p.best && best > 0 &&
		x.notes > 1 && x.last > 0 && x.least > hopeless*best
}

// choose makes the cheapest candidate the best. The one before is tried again soon, as it may have been disturbed.
func (p *Picker) choose() {
	before := p.best
	for w := 0; w <= p.others; w++ {
		if c := p.candidates[w].cost; c > 0 && (p.candidates[p.best].cost == 0 || c < p.candidates[p.best].cost) {
			p.best = w
		}
	}
	if p.best != before {
		p.candidates[before].rest = minTrialGap
	}
}

// endTrials ends a group of trials. The dearer the candidate, the later it is tried again.
func (p *Picker) endTrials() {
	trials := p.asked
	p.asked = 0
	x, best := &p.candidates[p.trial], p.candidates[p.best].cost
	x.rest = minTrialGap
	if x.cost > 0 && best > 0 {
		x.rest = min(max(minTrialGap, int(float64(trials)*(x.cost/best-1)/loss)), latest)
	}
}

// Best is the candidate that is used now, apart from trials.
func (p *Picker) Best() int { return p.best }

// Cost is what candidate w has cost lately. 0: it has not been tried.
func (p *Picker) Cost(w int) float64 { return p.candidates[w].cost }
