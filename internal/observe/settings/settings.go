// Package settings is the one table of everything that environment variables can change. A package reads it through a
// Set, which is parsed once for each handle, so two jobs in one process may differ.
package settings

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Info describes one setting and, in a Set, its value.
type Info struct {
	Env     string `json:"name"`    // environment variable
	Value   string `json:"value"`   // as written in the environment, or Default
	Default string `json:"default"` // as it would be written in the environment
	Kind    string `json:"kind"`    // int, bool, duration, size, or the words allowed, as in "auto|shm"
	Doc     string `json:"meaning"` // one sentence
	Set     bool   `json:"set"`     // the environment has it
}

// definition is Info plus the parser. The table is in the order of definition, and complete at the package's start.
type definition struct {
	Info
	parse func(string) (any, error)
}

var table []*definition

// Setting is one entry of the table, with values of type T.
type Setting[T any] struct{ def *definition }

// Get returns the setting's value in s.
func (d Setting[T]) Get(s *Set) T { return s.values[d.def].value.(T) }

// Given reports whether s has the setting's value from the environment, and not its default.
func (d Setting[T]) Given(s *Set) bool { return s.values[d.def].set }

// Env is the name of its environment variable.
func (d Setting[T]) Env() string { return d.def.Env }

// Set holds the values of all settings for one handle. It is not changed after Parse, so it may be shared.
type Set struct{ values map[*definition]entry }

type entry struct {
	text  string
	value any
	set   bool
}

// Parse reads all settings through lookup, which is os.LookupEnv or a stand-in. An empty variable counts as not set.
// The error joins one line for each variable that cannot be read, and the Set is then nil.
func Parse(lookup func(name string) (string, bool)) (*Set, error) {
	s := &Set{values: make(map[*definition]entry, len(table))}
	var errs []error
	for _, d := range table {
		text, set := lookup(d.Env)
		if text == "" {
			text, set = d.Default, false
		}
		v, err := d.parse(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("golci: %s=%q: %w", d.Env, text, err))
		}
		s.values[d] = entry{text, v, set}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return s, nil
}

// List describes all settings with their values in s, in the order of the table.
func (s *Set) List() []Info {
	out := make([]Info, len(table))
	for i, d := range table {
		out[i] = d.Info
		out[i].Value, out[i].Set = s.values[d].text, s.values[d].set
	}
	return out
}

// Known describes all settings, in the order of the table, without values.
func Known() []Info {
	out := make([]Info, len(table))
	for i, d := range table {
		out[i] = d.Info
	}
	return out
}

// At is the value of the setting at a place of the table: an int, bool, string, time.Duration, or int64 for a size.
func (s *Set) At(place int) any { return s.values[table[place]].value }

func defineSetting[T any](env, kind, def, doc string, parse func(string) (T, error)) Setting[T] {
	d := &definition{
		Info:  Info{Env: env, Kind: kind, Default: def, Doc: doc},
		parse: func(s string) (any, error) { return parse(s) },
	}
	table = append(table, d)
	return Setting[T]{d}
}

// defineInt defines a whole number from least to most.
func defineInt(env, def string, least, most int, doc string) Setting[int] {
	return defineSetting(env, "int", def, doc, func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < least || n > most {
			return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		return n, nil
	})
}

// defineDuration defines a time as Go writes it, from least up.
func defineDuration(env, def string, least time.Duration, doc string) Setting[time.Duration] {
	return defineSetting(env, "duration", def, doc, func(s string) (time.Duration, error) {
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return 0, fmt.Errorf("want a time such as 500us, 2s or 1m, at least %v", least)
		}
		return d, nil
	})
}

func defineWord(env, def, doc string, words ...string) Setting[string] {
	return defineSetting(env, strings.Join(words, "|"), def, doc, func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("want one of %s", strings.Join(words, ", "))
		}
		return s, nil
	})
}

func defineBool(env, def, doc string) Setting[bool] {
	return defineSetting(env, "bool", def, doc, func(s string) (bool, error) {
		switch strings.ToLower(s) {
		case "1", "true", "yes", "on":
			return true, nil
		case "0", "false", "no", "off":
			return false, nil
		}
		return false, errors.New("want on or off")
	})
}

// defineText defines a text that is not looked at here.
func defineText(env, def, doc string) Setting[string] {
	return defineSetting(env, "text", def, doc, func(s string) (string, error) { return s, nil })
}

// defineSize defines a number of bytes from least to most.
func defineSize(env, def string, least, most int64, doc string) Setting[int64] {
	return defineSetting(env, "size", def, doc, func(s string) (int64, error) {
		n, err := ParseSize(s)
		if err != nil {
			return 0, err
		}
		if n < least || n > most {
			return 0, fmt.Errorf("want from %d to %d bytes", least, most)
		}
		return n, nil
	})
}

// ParseSize reads a number of bytes such as 4096, 64K, 64KiB or 2G; the factors are powers of 1024.
func ParseSize(s string) (int64, error) {
	digits, shift := strings.ToUpper(strings.TrimSpace(s)), 0
	digits = strings.TrimSuffix(strings.TrimSuffix(digits, "B"), "I")
	if last := len(digits) - 1; last > 0 {
		if unit := strings.IndexByte("KMGT", digits[last]); unit >= 0 {
			digits, shift = digits[:last], 10*(unit+1)
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
	if err != nil || n < 0 || n > (1<<62)>>shift {
		return 0, errors.New("want a number of bytes such as 4096, 64KiB or 2G")
	}
	return n << shift, nil
}
