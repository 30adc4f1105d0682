package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Kind is what our list expects of a line.
type Kind uint8

const (
	Pass  Kind = iota // it passes, and must go on to
	Todo              // it does not pass yet
	Skip              // it is not run
	Empty             // its program tests nothing but in MPICH
)

var kindNames = []string{"pass", "todo", "skip", "empty"}

func (k Kind) String() string { return kindNames[k] }

// Reasons for Skip.
var Reasons = []string{"xfail", "cvar", "mpiexec", "memory", "gpu", "nonstrict", "abi", "impls", "ft", "erroneous"}

// Expected is a line of our list.
type Expected struct {
	Key    string
	Kind   Kind
	Reason string // Todo: the family of functions that it waits for; Skip: one of Reasons; Empty: what for
	Remark string // for the reader
}

// List is our list, sorted by keys.
type List struct {
	Commit string // of MPICH, that it was made from
	Lines  []Expected
}

// Find gives the line of that key, or nil.
func (l *List) Find(key string) *Expected {
	i, ok := slices.BinarySearchFunc(l.Lines, key, func(e Expected, key string) int { return cmp.Compare(e.Key, key) })
	if !ok {
		return nil
	}
	return &l.Lines[i]
}

const (
	heading = "# What golci makes of the lines of MPICH's tests. golci-mpich-tests -update writes it.\n"
	commit  = "# commit "
	gap     = "  " // ends a key; keys have single spaces only
)

// ParseList reads a list as Format writes it.
func ParseList(text string) (*List, error) {
	l := &List{}
	for i, row := range strings.Split(text, "\n") {
		if c, ok := strings.CutPrefix(row, commit); ok {
			l.Commit = c
		}
		if row == "" || row[0] == '#' {
			continue
		}
		e, err := parseExpected(row)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		if n := len(l.Lines); n > 0 && l.Lines[n-1].Key >= e.Key {
			return nil, fmt.Errorf("line %d: %s is not in its place", i+1, e.Key)
		}
		l.Lines = append(l.Lines, e)
	}
	return l, nil
}

func parseExpected(row string) (e Expected, err error) {
	key, rest, ok := strings.Cut(row, gap)
	words := strings.Fields(rest)
	if !ok || key == "" || len(words) == 0 {
		return e, fmt.Errorf("%q has no key and verdict", row)
	}
	kind := slices.Index(kindNames, words[0])
	if kind < 0 {
		return e, fmt.Errorf("%s: there is no verdict %q", key, words[0])
	}
	e = Expected{Key: key, Kind: Kind(kind)}
	words = words[1:]
	if e.Kind != Pass {
		if len(words) == 0 {
			return e, fmt.Errorf("%s: %s without a reason", key, e.Kind)
		}
		e.Reason, words = words[0], words[1:]
	}
	if e.Kind == Skip && !slices.Contains(Reasons, e.Reason) {
		return e, fmt.Errorf("%s: there is no reason %q", key, e.Reason)
	}
	e.Remark = strings.Join(words, " ")
	return e, nil
}

// Format is the text of the list.
func (l *List) Format() string {
	var b strings.Builder
	b.WriteString(heading + commit + l.Commit + "\n")
	for _, e := range l.Lines {
		row := fmt.Sprintf("%-38s%s%-5s %-11s %s", e.Key, gap, e.Kind, e.Reason, e.Remark)
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}
