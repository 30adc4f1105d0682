package mpitest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Kind is what a step does.
type Kind uint8

// Kinds of steps.
const (
	Messages     Kind = iota // messages between pairs of ranks, in all modes
	Gathering                // messages to one rank, which receives from any source
	Partitioned              // a partitioned send and its receive
	Collective               // a collective, of both groups in an inter-communicator
	Neighborhood             // a neighbourhood collective
	Spread                   // one of all collectives, of datatypes with gaps
	Disagree                 // one of them whose ranks give lengths that differ; Make makes none
	Window                   // one-sided epochs in a window of their own
	Complete                 // all requests that are left are completed
	MakeComm                 // a communicator of some of the ranks
	MakeInter                // an inter-communicator of two parts
	MakeTopology             // a grid or a graph
	FreeComm                 // the end of a communicator
	kinds
)

var kindNames = [kinds]string{
	"messages", "gathering", "partitioned", "collective", "neighborhood", "spread", "disagree", "window", "complete",
	"make communicator",
	"make inter-communicator", "make topology", "free communicator",
}

// String is the name of k.
func (k Kind) String() string { return kindNames[k] }

// Step is what one thread of each rank of a communicator does.
type Step struct {
	Thread int
	Kind   Kind
	Comm   int    // number of the communicator; that of each thread's duplicate of the world is the thread's number
	Made   int    // number of the communicator that the step makes
	Seed   uint64 // of all choices within the step
}

// Program is what all ranks of a job do. It does not change.
type Program struct {
	Seed           uint64
	Ranks, Threads int
	Steps          []Step
}

// String lists the steps.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "program with seed %d, %d ranks, %d threads\n", p.Seed, p.Ranks, p.Threads)
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%4d: thread %d: %v in communicator %d", i, s.Thread, s.Kind, s.Comm)
		if s.makes() {
			fmt.Fprintf(&b, ", makes %d", s.Made)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *Step) makes() bool { return s.Kind >= MakeComm && s.Kind <= MakeTopology }

// Make makes the program of a seed for 1 to 8 ranks, with so many steps for each of its threads, 1 at least.
func Make(seed uint64, ranks, threads, steps int) *Program {
	p := &Program{Seed: seed, Ranks: ranks, Threads: threads}
	g := generator{p: p, rng: rand.New(rand.NewPCG(seed, 1)), next: threads}
	for t := range threads {
		g.live = append(g.live, []live{{t, Messages}})
	}
	for range steps {
		for t := range threads {
			g.add(t)
		}
	}
	return p
}

// live is a communicator that can be used, with the kind of step that has made it.
type live struct {
	number int
	made   Kind
}

// generator makes a program.
type generator struct {
	p    *Program
	rng  *rand.Rand
	next int      // number of the next communicator
	live [][]live // of each thread
}

// add adds a step of a thread.
func (g *generator) add(thread int) {
	all := g.live[thread]
	i := g.rng.IntN(len(all))
	c := all[i]
	s := Step{Thread: thread, Kind: g.kind(c, len(all)), Comm: c.number, Seed: g.rng.Uint64()}
	switch {
	case s.makes():
		s.Made = g.next
		g.next++
		g.live[thread] = append(all, live{s.Made, s.Kind})
	case s.Kind == FreeComm && i == 0:
		s.Kind = Complete
	case s.Kind == FreeComm:
		g.live[thread] = append(all[:i:i], all[i+1:]...)
	}
	g.p.Steps = append(g.p.Steps, s)
}

// kind chooses what is done with c, where a thread has some communicators.
func (g *generator) kind(c live, some int) Kind {
	choices := []Kind{
		Messages, Messages, Messages, Partitioned, Collective, Collective, Collective, Collective, Spread,
		Spread, Spread, Complete,
	}
	if c.made != MakeInter {
		choices = append(choices, Gathering, Window)
		if some < 5 {
			choices = append(choices, MakeComm, MakeInter, MakeTopology)
		}
	}
	if c.made == MakeTopology {
		choices = append(choices, Neighborhood, Neighborhood, Neighborhood, Neighborhood)
	}
	if some > 2 {
		choices = append(choices, FreeComm)
	}
	return choices[g.rng.IntN(len(choices))]
}

// withoutStep is p without some steps, and without those whose communicator would then be missing.
func (p *Program) withoutStep(drop func(i int) bool) *Program {
	q := &Program{Seed: p.Seed, Ranks: p.Ranks, Threads: p.Threads}
	have := make(map[int]bool)
	for t := range p.Threads {
		have[t] = true
	}
	for i, s := range p.Steps {
		if drop(i) || !have[s.Comm] {
			continue
		}
		if s.makes() {
			have[s.Made] = true
		}
		q.Steps = append(q.Steps, s)
	}
	return q
}

// shrinkProgram leaves out steps of a failing program as long as fails tells that what is left fails, at most tries
// times.
func shrinkProgram(p *Program, tries int, fails func(*Program) bool) *Program {
	for n := len(p.Steps) / 2; n > 0 && tries > 0; {
		shorter := false
		for at := 0; at < len(p.Steps) && tries > 0; {
			q := p.withoutStep(func(i int) bool { return i >= at && i < at+n })
			if tries--; fails(q) {
				p, shorter = q, true
			} else {
				at += n
			}
		}
		if !shorter || n > 1 {
			n /= 2
		}
	}
	return p
}
