// Package realm measures package realm: events, tasks and what they begin, on one rank and between ranks. Every measure
// is made of rounds. The figures of a row are the median of its rounds, and the best of them.
package realm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/realm"
)

// Name is the name of the benchmark.
const Name = "realm"

// Crowded is the Row.Impl of ranks that have more workers than cores.
const Crowded = bench.Golci + "-crowded"

// Errors of this package, for errors.Is.
var (
	ErrName  = errors.New("bench: realm: no such measure")
	ErrWrong = errors.New("bench: realm: an operation went wrong")
)

// Units of rows beside those of package bench.
const (
	MegaRate = "M/s"
	Bytes    = "bytes"
)

// Config says what to measure.
type Config struct {
	Only   []string      // names of measures, groups or rows; nil for all
	Window time.Duration // least length of the rounds of one row
	part   int           // of tests, whose rounds are only such a part as long; 0: 1
}

// place says which jobs a measure belongs to.
type place int

const (
	alone    place = iota // one rank with one worker
	together              // several ranks
	crowding              // several ranks, with and without more workers than cores
)

// measure is a loop that fills one or more rows.
type measure struct {
	group, name string
	columns     []column // what a round returns
	sizes       []int
	place       place
	once        bool // one round, without a warm-up
	// prepare runs in a task of rank 0, and returns what runs a round.
	prepare func(l *lab, size int) round
}

// column is a row of a measure.
type column struct{ name, unit string }

// round measures once: a value for each column. What goes wrong it tells lab.note.
type round func() []float64

func ns(names ...string) (cs []column) {
	for _, n := range names {
		cs = append(cs, column{n, bench.Nano})
	}
	return cs
}

var once = []int{0} // the size of what has none

// measures are in the order of the table.
func measures() []measure {
	return slices.Concat(events(), tasks(), locks(), barriers(), data(), memories(), links(), floods())
}

// is tells whether name names the measure, its group or one of its rows.
func (m *measure) is(name string) bool {
	return m.name == name || m.group == name || slices.ContainsFunc(m.columns,
		func(c column) bool { return c.name == name })
}

// choose returns the measures that are named; with no name all. Error: ErrName.
func choose(only []string) ([]measure, error) {
	all := measures()
	for _, name := range only {
		if !slices.ContainsFunc(all, func(m measure) bool { return m.is(name) }) {
			return nil, fmt.Errorf("%w: %q; there are %s", ErrName, name, strings.Join(Names(), ", "))
		}
	}
	return slices.DeleteFunc(all, func(m measure) bool {
		return len(only) > 0 && !slices.ContainsFunc(only,
			m.is)
	}), nil
}

// Names lists the groups of measures, and then the measures.
func Names() (names []string) {
	all := measures()
	for _, m := range all {
		if !slices.Contains(names, m.group) {
			names = append(names, m.group)
		}
	}
	for _, m := range all {
		names = append(names, m.name)
	}
	return names
}

// Plan is what the chosen measures need: a job of one rank, one of several, and one of several with more workers than
// cores. Rows is how many rows each of these gives.
type Plan struct {
	Alone, Together, Crowded []string // names of measures
}

// PlanFor tells which jobs the measures named need. Error: ErrName.
func PlanFor(only []string) (p Plan, err error) {
	chosen, err := choose(only)
	for _, m := range chosen {
		switch m.place {
		case alone:
			p.Alone = append(p.Alone, m.name)
		case crowding:
			p.Crowded = append(p.Crowded, m.name)
			fallthrough
		case together:
			p.Together = append(p.Together, m.name)
		}
	}
	return p, err
}

// Run is called by all ranks of a job with the same arguments, and blocks until all is measured. A job of one rank does
// the measures of one rank, another the rest. Rank 0's out gets the rows. The runtime has begun, and does nothing else.
func Run(ctx context.Context, rt *realm.Runtime, c Config, out func(bench.Row)) error {
	chosen, err := choose(c.Only)
	if err != nil {
		return err
	}
	l, err := newLab(ctx, rt, c)
	if err != nil {
		return fmt.Errorf("bench: realm: %w", err)
	}
	for _, m := range chosen {
		if (m.place == alone) != (rt.Size() == 1) {
			continue
		}
		for _, size := range l.sizesOf(&m) {
			if err := l.measure(ctx, &m, size, out); err != nil {
				return fmt.Errorf("bench: %s, size %d: %w", m.name, size, err)
			}
		}
	}
	return nil
}
