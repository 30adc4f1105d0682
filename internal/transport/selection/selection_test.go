package selection

import (
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the simulation; 0: a new one")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// simulate uses p n times, at the costs of the candidates times noise, and returns the mean cost of a use. late notes
// come that many uses after the use.
func simulate(p *Picker, rng *rand.Rand, costs []float64, n, late int) float64 {
	type note struct {
		candidate int
		cost      float64
	}
	var sum float64
	var notes []note
	for range n {
		w := p.Pick()
		cost := costs[w] * (1 + 0.1*rng.Float64())
		sum += costs[w]
		if rng.IntN(10) == 0 {
			cost *= 5 // another program ran
		}
		if notes = append(notes, note{w, cost}); len(notes) > late {
			p.Note(notes[0].candidate, notes[0].cost)
			notes = notes[1:]
		}
	}
	return sum / float64(n)
}

// TestPicker: whatever the candidates cost, and when that changes, at most a tenth more is paid than for the best one.
func TestPicker(t *testing.T) {
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 60 {
		ways := 1 + rng.IntN(Most)
		p := New(ways)
		late := rng.IntN(10)
		for range 4 {
			costs := make([]float64, ways)
			least := 1e9
			for i := range costs {
				costs[i] = 1 + 4*rng.Float64()
				least = min(least, costs[i])
			}
			simulate(&p, rng, costs, 3*latest, late) // it learns
			if mean := simulate(&p, rng, costs, 20000, late); mean > 1.10*least {
				t.Errorf("costs %v, notes %d late: a use cost %.3f, the best way %.3f", costs, late, mean, least)
			}
		}
	}
}

// TestPickerTriesAll: each candidate is tried before the first choice, candidate 0 first.
func TestPickerTriesAll(t *testing.T) {
	p := New(3)
	var seen [3]int
	for range 3 * Trials {
		w := p.Pick()
		seen[w]++
		p.Note(w, float64(3-w))
	}
	if seen != [3]int{Trials, Trials, Trials} || p.Best() != 2 || p.Pick() != 2 {
		t.Errorf("tried %v, best %d", seen, p.Best())
	}
}

// TestPickerHopeless: a candidate that costs twice as much has all trials at first, and two of them later.
func TestPickerHopeless(t *testing.T) {
	p := New(2)
	var groups []int
	for i, last := 0, -1; i < 3*latest; i++ {
		w := p.Pick()
		switch {
		case w == 1 && last == i-1:
			groups[len(groups)-1]++
		case w == 1:
			groups = append(groups, 1)
		}
		if w == 1 {
			last = i
		}
		p.Note(w, float64(1+w))
	}
	if len(groups) < 2 || groups[0] != Trials || groups[1] != 2 {
		t.Errorf("groups of %d trials", groups)
	}
}

// TestPickerLost: trials follow one another. One whose cost is lost is made again, and does not end the group.
func TestPickerLost(t *testing.T) {
	p := New(2)
	var tried []int
	for i := range 3*Trials + 2 {
		w := p.Pick()
		if tried = append(tried, w); w == 1 && i%2 == 0 {
			p.Lose(w)
		} else {
			p.Note(w, float64(2-w))
		}
	}
	if want := []int{0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}; !slices.Equal(tried, want) || p.Cost(1) != 1 || p.Best() != 1 {
		t.Errorf("tried %v, want %v; the cost of way 1 is %v", tried, want, p.Cost(1))
	}
	p = New(2)
	for range Trials {
		p.Note(p.Pick(), 1)
	}
	for i := range Trials { // no note comes meanwhile
		if w := p.Pick(); w != 1 {
			t.Errorf("way %d at trial %d of way 1", w, i)
		}
	}
	if w := p.Pick(); w != 0 {
		t.Errorf("way %d, want the best while the notes of trials are awaited", w)
	}
}

// TestPickerAllLost: a candidate of which no cost can be told does not stay under trial.
func TestPickerAllLost(t *testing.T) {
	p := New(2)
	tried := 0
	for range 10 * (noteWait + minTrialGap) {
		if w := p.Pick(); w == 1 {
			tried++
			p.Lose(w)
		} else {
			p.Note(w, 1)
		}
	}
	if tried > 11*mostAsked {
		t.Errorf("it was tried %d times in ten groups", tried)
	}
}

// TestPickerColdUses: the uses that find memory in no cache, or not mapped, cost much more. They do not hide that a
// candidate is the cheaper one.
func TestPickerColdUses(t *testing.T) {
	for name, c := range map[string]struct {
		unmapped int // uses of candidate 1 in its first group that cost 6
	}{"the first group tells": {Trials - 1}, "a later group tells": {Trials}} {
		p := New(2)
		uses, last := 0, -1
		for i := range 3 * latest {
			w, cost := p.Pick(), 1.0
			if w == 1 {
				switch uses++; {
				case uses <= c.unmapped:
					cost = 6
				case last != i-1: // it has rested
					cost = 2
				default:
					cost = 0.7
				}
				last = i
			}
			p.Note(w, cost)
		}
		if p.Best() != 1 {
			t.Errorf("%s: the way that costs %.1f was best, of 1.0 and 0.7", name, p.Cost(p.Best()))
		}
	}
}

// TestPickerWithoutNotes: uses that nobody tells of end no trial for ever, and bad notes are nothing.
func TestPickerWithoutNotes(t *testing.T) {
	p := New(2)
	var other int
	for range 100 * noteWait {
		other += p.Pick()
		p.Note(7, 1)
		p.Note(1, -1)
		p.Note(0, 0)
	}
	if p.Best() != 0 || other == 0 {
		t.Errorf("best %d, way 1 used %d times", p.Best(), other)
	}
	if one := (Picker{}); one.Pick() != 0 {
		t.Error("the zero value picked a way that it does not have")
	}
}
