package mpitest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// Threads is what the threads of a program are.
type Threads uint8

// Kinds of threads.
const (
	Goroutines Threads = iota
	OSThreads          // goroutines, each with an OS thread of its own
	Light              // threads of package fult
)

// group is a communicator, and who is in it by rank in the world.
type group struct {
	c             *mpi.Comm
	local, remote []int
	in, out       [][]edge // neighbours of each rank of a topology, by rank in c
}

// edge is a neighbour: its rank, -1 if there is none, and which of its neighbours this rank is.
type edge struct{ rank, back int }

func (g *group) inter() bool { return g.remote != nil }

// sources are those whose data a collective brings.
func (g *group) sources() []int {
	if g.inter() {
		return g.remote
	}
	return g.local
}

// sides are both groups, in the order in which all ranks see them.
func (g *group) sides() (a, b []int) {
	if g.inter() && g.remote[0] < g.local[0] {
		return g.remote, g.local
	}
	return g.local, g.sources()
}

// choices are the random numbers of a step, the same on all ranks of g.
func (g *group) choices(s Step) *rand.Rand {
	a, _ := g.sides()
	return rand.New(rand.NewPCG(s.Seed, uint64(a[0])))
}

// pending is a request that is left for a later step, and what is to be checked when it is done.
type pending struct {
	request mpi.Request
	site    site
	check   func(mpi.Status) error
}

// actor is one thread of a rank. All fields are of that thread.
type actor struct {
	p       *Program
	world   *mpi.Comm
	me      int // rank in the world
	thread  int
	comms   map[int]*group
	pending []pending
	digest  uint64
}

// yield lets others run while a thread asks again and again.
func yield() {
	if t := fult.Current(); t != nil {
		t.Yield()
		return
	}
	runtime.Gosched()
}

// Execute executes a program as one rank, together with all others. It blocks until all threads have ended, and may
// switch threads. The digest is of all that this rank has received; the error names the first difference of each
// thread.
func Execute(world *mpi.Comm, p *Program, kind Threads) (digest uint64, err error) {
	actors := make([]*actor, p.Threads)
	for t := range actors {
		c, err := world.Dup()
		if err != nil {
			return 0, err
		}
		if err := warm(c); err != nil {
			return 0, err
		}
		a := &actor{p: p, world: world, me: world.Rank(), thread: t, comms: make(map[int]*group)}
		all := make([]int, p.Ranks)
		for i := range all {
			all[i] = i
		}
		a.comms[t] = &group{c: c, local: all}
		actors[t] = a
	}
	errs := together(world.Proc(), kind, actors)
	for _, a := range actors {
		digest += a.digest
	}
	return digest, errors.Join(errs...)
}

// warm makes as many collectives as a communicator has before it gets memory for them.
func warm(c *mpi.Comm) error {
	for range 10 {
		if err := c.Barrier(); err != nil {
			return err
		}
	}
	return nil
}

// together runs all actors as threads.
func together(p *mpi.Proc, kind Threads, actors []*actor) []error {
	errs := make([]error, len(actors))
	if kind == Light {
		return []error{p.Parallel(len(actors), func(i int) error { return actors[i].run() })}
	}
	var wg sync.WaitGroup
	for i, a := range actors {
		wg.Go(func() {
			if kind == OSThreads {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			if errs[i] = a.run(); errs[i] != nil {
				_ = p.Abort(1, errs[i]) // others may wait for this thread
			}
		})
	}
	wg.Wait()
	return errs
}

// run executes the steps of a thread.
func (a *actor) run() error {
	for i, s := range a.p.Steps {
		g := a.comms[s.Comm]
		if s.Thread != a.thread || g == nil {
			continue
		}
		if err := a.one(site{a, i, s}, g); err != nil {
			return err
		}
	}
	end := site{a, len(a.p.Steps), Step{Thread: a.thread, Kind: Complete, Comm: a.thread}}
	if err := a.complete(end, rand.New(rand.NewPCG(a.p.Seed, 2))); err != nil {
		return err
	}
	for _, g := range a.comms {
		if err := g.c.Free(); err != nil {
			return end.wrong("Free", err)
		}
	}
	return nil
}

// one executes a step.
func (a *actor) one(s site, g *group) error {
	r := g.choices(s.step)
	switch s.step.Kind {
	case Messages:
		return a.messages(s, g, r)
	case Gathering:
		return a.gathering(s, g, r)
	case Partitioned:
		return a.partitioned(s, g, r)
	case Collective:
		return a.collective(s, g, r)
	case Neighborhood:
		return a.neighborhood(s, g, r)
	case Spread:
		return a.perform(s, r, drawSpreads(s, g, r, lengths{tone: tone}).call())
	case Disagree:
		return a.disagree(s, g, r)
	case Window:
		return a.window(s, g, r)
	case Complete:
		return a.complete(s, r)
	case MakeComm:
		return a.makeComm(s, g, r)
	case MakeInter:
		return a.makeInter(s, g, r)
	case MakeTopology:
		return a.makeTopology(s, g, r)
	}
	if err := a.complete(s, r); err != nil {
		return err
	}
	delete(a.comms, s.step.Comm)
	return s.wrong("Free", g.c.Free())
}

// later leaves a request for a later step.
func (a *actor) later(s site, q mpi.Request, check func(mpi.Status) error) {
	a.pending = append(a.pending, pending{q, s, check})
}

// complete completes all requests that are left, in one of the ways there are.
func (a *actor) complete(s site, r *rand.Rand) error {
	all := a.pending
	a.pending = nil
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	qs := make([]mpi.Request, len(all))
	for i := range all {
		qs[i] = all[i].request
	}
	sts := make([]mpi.Status, len(all))
	if err := completed(r.IntN(5), qs, sts); err != nil {
		return s.wrong("completion", err)
	}
	for i, q := range all {
		if !qs[i].Null() {
			return q.site.wrong("completion", fmt.Errorf("request %d is not null", i))
		}
		if err := q.check(sts[i]); err != nil {
			return err
		}
	}
	return nil
}

func completed(way int, qs []mpi.Request, sts []mpi.Status) (err error) {
	switch way {
	case 0:
		return mpi.Waitall(qs, sts)
	case 1:
		for range active(qs) {
			i, st, err := mpi.Waitany(qs)
			if err != nil {
				return err
			}
			sts[i] = st
		}
		return nil
	case 2:
		for left := active(qs); left > 0; {
			is, got, err := mpi.Waitsome(qs)
			if err != nil {
				return err
			}
			for k, i := range is {
				sts[i] = got[k]
			}
			left -= len(is)
		}
		return nil
	case 3:
		for done := false; !done; yield() {
			if done, err = mpi.Testall(qs, sts); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range qs {
		if sts[i], err = qs[i].Wait(); err != nil {
			return err
		}
	}
	return nil
}

// active is how many requests are not null.
func active(qs []mpi.Request) int {
	n := 0
	for i := range qs {
		if !qs[i].Null() {
			n++
		}
	}
	return n
}

// index is this rank's place among the local ranks of g.
func (g *group) index() int { return g.c.Rank() }

// placeOf is where a rank of the world is in a list; -1: it is not.
func placeOf(list []int, rank int) int { return slices.Index(list, rank) }
