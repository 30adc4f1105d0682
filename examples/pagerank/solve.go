package main

import (
	"errors"
	"math"
	"time"

	"github.com/golci/golci/examples/internal/rank"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi"
)

// rule says what to compute. Scores follow an edge with probability damping. Iteration ends when the sum of the
// absolute changes is below tolerance, or after a number of iterations.
type rule struct {
	damping    float64
	tolerance  float64
	iterations int
}

// solver is one rank's solution. Each block has a thread. Only this thread writes the scores of the block, their
// values, and the ghosts that it receives. All threads of the rank read all values between the first and the second
// barrier of an iteration.
//
// Thread i gets the ghosts of the twin blocks i of the other ranks, under tag i. So a value that several blocks of a
// rank need crosses once, and a thread sends at most one message to each other rank. The number of messages of an
// iteration grows with blocks times ranks, not with the square of the blocks. Threads of one rank share memory and a
// barrier.
type solver struct {
	rule
	*shard
	c       *mpi.Comm
	barrier *fult.Barrier
	values  []float64 // score over degree of own vertices, then of ghosts
	scores  []float64 // of own vertices
	parts   []part    // of each block

	// Written by the last thread at the second barrier, read by all after the third.
	sum  total
	over bool

	shown  *progress
	rounds int
	took   time.Duration // of the iterations
}

// part is what a block adds to the total. Parts of two threads do not share a cache line.
type part struct {
	total
	_ [48]byte
}

// total is the sums that an iteration needs of all vertices.
type total struct {
	Change   float64 // absolute changes of the scores
	Dangling float64 // scores of the vertices that no edge leaves
}

func newSolver(c *mpi.Comm, s *shard, r rule, shown *progress) (*solver, error) {
	barrier, err := fult.NewBarrier(s.blocks)
	if err != nil {
		return nil, err
	}
	own := len(s.degree)
	return &solver{
		rule: r, shard: s, c: c, barrier: barrier, shown: shown,
		values: make([]float64, own+s.ghosts), scores: make([]float64, own), parts: make([]part, s.blocks),
	}, nil
}

// solve computes the scores. It is collective, waits, and is for goroutines.
func (s *solver) solve() error {
	if err := s.c.Barrier(); err != nil {
		return err
	}
	begin := time.Now()
	err := rank.Threads(s.c.Proc(), s.blocks, s.thread)
	s.took = time.Since(begin)
	return err
}

// thread is the work of block i. After a failure it stays for the barriers, where all learn of it.
func (s *solver) thread(team *rank.Team, me *fult.Thread, i int) error {
	lo, hi := s.block(s.rank, i)
	lo, hi = lo-s.first, hi-s.first
	mail := s.newMailbox(i)
	s.parts[i].total = s.begin(lo, hi)
	for s.meet(team, me); !s.over; s.meet(team, me) {
		s.publish(lo, hi)
		if err := mail.exchange(s.c, s.values, i); err != nil {
			team.Fail(err)
		}
		s.barrier.Wait(me)
		s.parts[i].total = s.update(lo, hi)
	}
	return nil
}

// meet adds up what the threads of all ranks have computed, and decides whether to go on.
func (s *solver) meet(team *rank.Team, me *fult.Thread) {
	if s.barrier.Wait(me) {
		err := team.Err()
		if err == nil {
			err = s.reduce()
		}
		if err != nil {
			team.Fail(err)
			s.over = true
		}
	}
	s.barrier.Wait(me)
}

// reduce is done by one thread of each rank. All ranks get the same sums, so they decide alike.
func (s *solver) reduce() error {
	var t total
	for i := range s.parts {
		t.Change += s.parts[i].Change
		t.Dangling += s.parts[i].Dangling
	}
	mine, all := []float64{t.Change, t.Dangling}, make([]float64, 2)
	if err := mpi.Allreduce(s.c, mine, all, mpi.Sum); err != nil {
		return err
	}
	s.sum = total{Change: all[0], Dangling: all[1]}
	if math.IsInf(s.sum.Change, 1) { // the beginning: nothing has been iterated
		s.over = s.iterations == 0
		return nil
	}
	s.rounds++
	s.shown.iterated(s.rounds, s.sum.Change)
	s.over = s.sum.Change < s.tolerance || s.rounds >= s.iterations
	if math.IsNaN(s.sum.Change) {
		return errors.New("the scores are not numbers any more")
	}
	return nil
}

// begin gives the vertices of a block their first scores.
func (s *solver) begin(lo, hi int) total {
	t := total{Change: math.Inf(1)}
	for v := lo; v < hi; v++ {
		s.scores[v] = 1 / float64(s.vertices)
		if s.degree[v] == 0 {
			t.Dangling += s.scores[v]
		}
	}
	return t
}

// publish makes the values of a block from its scores.
func (s *solver) publish(lo, hi int) {
	for v := lo; v < hi; v++ {
		if n := s.degree[v]; n > 0 {
			s.values[v] = s.scores[v] / float64(n)
		}
	}
}

// update makes the next scores of a block, summed in the order of the sources, however the graph is cut.
func (s *solver) update(lo, hi int) (t total) {
	n := float64(s.vertices)
	base := (1-s.damping)/n + s.damping*s.sum.Dangling/n
	for v := lo; v < hi; v++ {
		sum := 0.0
		for _, u := range s.sources[s.rows[v]:s.rows[v+1]] {
			sum += s.values[u]
		}
		score := base + s.damping*sum
		t.Change += math.Abs(score - s.scores[v])
		s.scores[v] = score
		if s.degree[v] == 0 {
			t.Dangling += score
		}
	}
	return t
}
