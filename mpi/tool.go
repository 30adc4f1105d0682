package mpi

import (
	"fmt"
	"iter"

	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/tool"
)

// Variable is a control variable (15.3.6): a setting and its value in a rank. Nothing changes it while the rank runs.
type Variable struct {
	Name     string // of the environment variable
	Doc      string // one sentence
	Category string // the group that it belongs to
	Basic    bool   // one of those that are needed first
	Value    any    // an int, bool, string or time.Duration, or an int64 of bytes
	Text     string // the value as it is written in the environment
	Given    bool   // the environment or an option has it; else it is the default
}

// Counter is a performance variable (15.3.7) and its value in a rank.
type Counter struct {
	Name     string
	Doc      string // one sentence, with the unit
	Category string
	Class    CounterClass
	Basic    bool // one of those that are of use to most
	Value    uint64
}

// CounterClass tells how a Counter moves.
type CounterClass int

// What a Counter tells: what there is now, what there can be, or how often something has happened since the rank's
// start (MPI_T_PVAR_CLASS_LEVEL, SIZE and COUNTER).
const (
	CounterLevel  CounterClass = 2
	CounterSize   CounterClass = 3
	CounterEvents CounterClass = 7
)

// String is the class in one word.
func (c CounterClass) String() string { return tool.Class(c).String() }

// Variables gives the control variables of the rank (15.3.6, MPI_T_cvar_get_info and MPI_T_cvar_read), in the order of
// `golci info -all`. It is local, and works after Finalize, too.
func (p *Proc) Variables() iter.Seq[Variable] {
	set := p.core().Settings()
	return func(yield func(Variable) bool) {
		list := set.List()
		for i, c := range tool.Controls() {
			if !yield(variable(&c, &list[i], set.At(i))) {
				return
			}
		}
	}
}

func variable(c *tool.Control, s *settings.Info, value any) Variable {
	return Variable{
		Name: c.Name, Doc: c.Doc, Category: tool.Categories()[c.Category].Name, Basic: c.Verbosity == tool.UserBasic,
		Value: value, Text: s.Value, Given: s.Set,
	}
}

// Variable is the control variable of that name (15.3.6, MPI_T_cvar_get_index). It is local. ErrArgument: there is
// none.
func (p *Proc) Variable(name string) (Variable, error) {
	for v := range p.Variables() {
		if v.Name == name {
			return v, nil
		}
	}
	return Variable{}, fmt.Errorf("mpi: Variable: %w: no control variable is called %q", ErrArgument, name)
}

// Counters gives the performance variables of the rank with their values (15.3.7, MPI_T_pvar_get_info and
// MPI_T_pvar_read). They are read once, when the loop begins, but are not of one instant. That takes time in proportion
// to the ranks of the job and to what waits. It waits for a poll that is under way, and does not switch threads. A
// handler of active messages must not call it. After Finalize the values are the last ones.
func (p *Proc) Counters() iter.Seq[Counter] {
	return func(yield func(Counter) bool) {
		values := p.core().Counters()
		for _, c := range tool.Counters() {
			if !yield(counter(&c, values[c.ID])) {
				return
			}
		}
	}
}

func counter(c *tool.Performance, value uint64) Counter {
	return Counter{
		Name: c.Name, Doc: c.Doc, Category: tool.Categories()[c.Category].Name, Class: CounterClass(c.Class),
		Basic: c.Verbosity == tool.UserBasic, Value: value,
	}
}

// Counter is the performance variable of that name (15.3.7, MPI_T_pvar_get_index). It reads as Counters does.
// ErrArgument: there is none.
func (p *Proc) Counter(name string) (Counter, error) {
	for c := range p.Counters() {
		if c.Name == name {
			return c, nil
		}
	}
	return Counter{}, fmt.Errorf("mpi: Counter: %w: no performance variable is called %q", ErrArgument, name)
}
