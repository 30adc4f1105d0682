package badnet

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Set writes one fault by its name in a setting. "loss", "burst", "dup", "reorder", "corrupt" and "truncate" take a
// chance or number. "delay", "jitter", "reorderby", "cut" (CutAfter) and "heal" (HealAfter) take a time such as 2ms.
// "seed" and "queue" take a whole number. The error matches ErrFaults; whether the faults make sense together is told
// by New.
func (f *Faults) Set(name, value string) (err error) {
	chances := map[string]*float64{
		"loss": &f.Loss, "burst": &f.Burst, "dup": &f.Dup, "reorder": &f.Reorder, "corrupt": &f.Corrupt, "truncate": &f.Truncate,
	}
	times := map[string]*time.Duration{
		"delay": &f.Delay, "jitter": &f.Jitter, "reorderby": &f.ReorderBy, "cut": &f.CutAfter, "heal": &f.HealAfter,
	}
	switch c, t := chances[name], times[name]; {
	case c != nil:
		*c, err = strconv.ParseFloat(value, 64)
	case t != nil:
		*t, err = time.ParseDuration(value)
	case name == "seed":
		f.Seed, err = strconv.ParseUint(value, 10, 64)
	case name == "queue":
		f.Queue, err = strconv.Atoi(value)
	default:
		return fmt.Errorf("%w: there is no fault %q", ErrFaults, name)
	}
	if err != nil {
		return fmt.Errorf("%w: %s=%q: %w", ErrFaults, name, value, err)
	}
	return nil
}

// Fields splits a setting such as "loss=0.1, seed=7" into names and values, and gives each to set; the first error ends
// it. A name twice is an error, as is an item without "="; "" has no items.
func Fields(spec string, set func(name, value string) error) error {
	if strings.TrimSpace(spec) == "" {
		return nil
	}
	seen := map[string]bool{}
	for item := range strings.SplitSeq(spec, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok || seen[name] {
			return fmt.Errorf("%w: %q in %q is not NAME=VALUE, or is there twice", ErrFaults, item, spec)
		}
		seen[name] = true
		if err := set(name, value); err != nil {
			return err
		}
	}
	return nil
}
