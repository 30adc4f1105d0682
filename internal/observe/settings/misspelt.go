package settings

import (
	"slices"
	"strings"
)

// prefix is how the names of all settings begin.
const prefix = "GOLCI_"

// Variables that give a rank its place in a job. They are no settings: nothing lists their values, and golci run passes
// none of them on. Package boot reads them.
const (
	EnvJob    = "GOLCI_JOB"    // the name of a job of golci run
	EnvRank   = "GOLCI_RANK"   // number of the rank
	EnvSize   = "GOLCI_SIZE"   // ranks of the job
	EnvRoot   = "GOLCI_ROOT"   // address and port of rank 0
	EnvSecret = "GOLCI_SECRET" // what only the ranks of the job know; never shown
)

// Places are the names of these variables.
var Places = []string{EnvJob, EnvRank, EnvSize, EnvRoot, EnvSecret}

// IsPlace says that kv, "name=value", is one of the variables of Places.
func IsPlace(kv string) bool {
	name, _, _ := strings.Cut(kv, "=")
	return slices.Contains(Places, name)
}

// Unknown returns a sentence for each variable of env (os.Environ) that is named like a setting and is none.
func Unknown(env []string) (texts []string) {
	for _, name := range unknownNames(env) {
		text, _ := complaintAbout(name)
		texts = append(texts, text)
	}
	return texts
}

// Misspelt is Unknown for those names alone that are a slip or were settings once: the others may be another program's.
func Misspelt(env []string) (texts []string) {
	for _, name := range unknownNames(env) {
		if text, slip := complaintAbout(name); slip {
			texts = append(texts, text)
		}
	}
	return texts
}

// Near says that word is almost name: with at most a third of its letters wrong, missing, too many or exchanged.
func Near(word, name string) bool { return countSlips(word, name) <= max(1, len(name)/3) }

// complaintAbout says that name is no setting, what has taken its place, or of which name it is a slip.
func complaintAbout(name string) (text string, slip bool) {
	text = name + " is set, but no setting is called so"
	if to, ok := Successor(name); ok {
		return text + " any more; use " + to, true
	}
	if near := nearestName(name); near != "" {
		return text + "; did you mean " + near + "?", true
	}
	return text, false
}

// unknownNames lists, each once, the names in env that begin as settings do and are none.
func unknownNames(env []string) (names []string) {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		known := slices.Contains(Places, name) || slices.ContainsFunc(table,
			func(d *definition) bool { return d.Env == name })
		if strings.HasPrefix(name, prefix) && value != "" && !known && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// lettersASlip is how many letters of a name allow one to be wrong, missing, too many, or in its neighbour's place.
const lettersASlip = 4

// nearestName finds the setting, or the variable of Places, for which name is a slip, or "".
func nearestName(name string) (near string) {
	name = strings.TrimPrefix(name, prefix)
	least := len(name)/lettersASlip + 1
	try := func(other string) {
		if n := countSlips(name, strings.TrimPrefix(other, prefix)); n < least {
			near, least = other, n
		}
	}
	for _, d := range table {
		try(d.Env)
	}
	for _, other := range Places {
		try(other)
	}
	return near
}

// countSlips counts the letters of a that must be changed, added, removed, or exchanged with the next one, to make b of
// it.
func countSlips(a, b string) int {
	var before, last, row []int // for the beginnings of a of lengths i-2, i-1 and i: by the length of the beginning of b
	for i := range len(a) + 1 {
		row = make([]int, len(b)+1)
		for j := range row {
			switch {
			case i == 0:
				row[j] = j
			case j == 0:
				row[j] = i
			default:
				differs := 1
				if a[i-1] == b[j-1] {
					differs = 0
				}
				row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differs)
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					row[j] = min(row[j], before[j-2]+1)
				}
			}
		}
		before, last = last, row
	}
	return row[len(b)]
}
