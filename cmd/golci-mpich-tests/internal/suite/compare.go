package suite

import (
	"cmp"
	"slices"
)

// Result is what became of a line.
type Result struct {
	Key     string
	Verdict Verdict
	Why     string // empty if it passed
}

// Finding is one kind of difference between what the list expects and what is.
type Finding uint8

const (
	Broken  Finding = iota // expected to pass, and failed
	Fixed                  // not expected to pass, and passed
	Missing                // a line of the suite that the list lacks
	Gone                   // a line of the list that the suite lacks
)

func (f Finding) String() string { return [...]string{"broken", "fixed", "missing", "gone"}[f] }

// Difference is one line that is not as the list says.
type Difference struct {
	Key  string
	What Finding
	Why  string
}

// Compare holds the list against the lines of the suite and the results of those that were run. A line that skips
// itself is neither broken nor fixed. The differences are sorted by key.
func Compare(list *List, lines []Line, results []Result) (found []Difference) {
	there := make(map[string]bool, len(lines))
	for i := range lines {
		key := lines[i].Key()
		if !there[key] && list.Find(key) == nil {
			found = append(found, Difference{key, Missing, ""})
		}
		there[key] = true
	}
	for _, e := range list.Lines {
		if !there[e.Key] {
			found = append(found, Difference{e.Key, Gone, ""})
		}
	}
	for _, r := range results {
		e := list.Find(r.Key)
		switch {
		case e == nil:
		case e.Kind == Pass && r.Verdict == Failed:
			found = append(found, Difference{r.Key, Broken, r.Why})
		case e.Kind != Pass && e.Kind != Empty && r.Verdict == Passed:
			found = append(found, Difference{r.Key, Fixed, e.Kind.String() + " " + e.Reason})
		}
	}
	slices.SortStableFunc(found, func(a, b Difference) int { return cmp.Compare(a.Key, b.Key) })
	return found
}

// Update is the list with what was found fixed as passing, with missing lines as classify says, and without those that
// are gone. Broken lines stay: the list never forgets what once passed.
func Update(list *List, found []Difference, classify func(key string) Expected) *List {
	next := &List{Commit: list.Commit}
	what := make(map[string]Finding, len(found))
	for _, d := range found {
		what[d.Key] = d.What
		if d.What == Missing {
			next.Lines = append(next.Lines, classify(d.Key))
		}
	}
	for _, e := range list.Lines {
		f, ok := what[e.Key]
		switch {
		case ok && f == Gone:
			continue
		case ok && f == Fixed:
			e = promoted(e)
		}
		next.Lines = append(next.Lines, e)
	}
	slices.SortFunc(next.Lines, func(a, b Expected) int { return cmp.Compare(a.Key, b.Key) })
	return next
}

// promoted is e as a line that passes. What it was skipped for stays as a remark.
func promoted(e Expected) Expected {
	if e.Kind == Skip && e.Remark == "" {
		e.Remark = e.Reason
	}
	return Expected{Key: e.Key, Kind: Pass, Remark: e.Remark}
}
