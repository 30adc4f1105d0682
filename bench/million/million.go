// Package million has the benchmark of very many threads. In each of two ranks hundreds of thousands of light-weight
// threads block in a receive of their own. All are served, again and again, also while the collector runs.
package million

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/golci/golci/bench"
	"github.com/golci/golci/mpi"
)

// Errors of Run, for errors.Is.
var (
	ErrConfig  = errors.New("million: bad configuration")
	ErrPayload = errors.New("million: wrong message")
)

// Config says how many and how often.
type Config struct {
	Threads int // in each rank, dealt out evenly to its workers
	Rounds  int // in each of which every thread gets a message; 0 means 5
}

// The benchmarks of the rows, in the order in which they come.
const (
	Memory       = "million"          // resident bytes a thread, all of them blocked
	GoMemory     = "million-go"       // the part of that which Go's runtime accounts for
	Rate         = "million-rate"     // messages/s of both ranks together, median round
	Collecting   = "million-gc-rate"  // the same while both collect garbage
	CollectionMs = "million-gc-time"  // length of a collection, beginning to end
	PauseMs      = "million-gc-pause" // how long all threads stood still in that
)

// Units of rows beside those of package bench.
const (
	Bytes = "bytes"
	Milli = "ms"
)

// Both ranks of a job call Run with the same arguments. It blocks until the benchmark is done. It must not be called
// in a light-weight thread. On rank 0 out gets the rows. Every message is compared with what it should be. Errors:
// ErrConfig, ErrPayload, and those of packages mpi and fult.
func Run(p *mpi.Proc, c Config, out func(bench.Row)) error {
	c.Rounds = cmp.Or(c.Rounds, 5)
	workers := p.Threads().Workers()
	switch {
	case p.World().Size() != 2:
		return fmt.Errorf("%w: %d ranks, want two", ErrConfig, p.World().Size())
	case c.Threads < workers || c.Threads-1 > mpi.TagUB:
		return fmt.Errorf("%w: %d threads on %d workers", ErrConfig, c.Threads, workers)
	case c.Rounds < 1:
		return fmt.Errorf("%w: %d rounds", ErrConfig, c.Rounds)
	}
	r := &report{comm: p.World(), threads: c.Threads, out: out}
	if err := run(newCrowd(p, c.Threads), c, r); err != nil {
		return fmt.Errorf("million: rank %d: %w", p.World().Rank(), err)
	}
	return nil
}

func run(c *crowd, conf Config, r *report) error {
	before := takeMemory()
	if err := c.start(); err != nil {
		return err
	}
	if err := c.blocked(); err != nil {
		return err
	}
	if err := r.memory(takeMemory().since(before)); err != nil {
		return err
	}
	var rounds []time.Duration
	for range conf.Rounds {
		took, err := c.round()
		if err != nil {
			return err
		}
		rounds = append(rounds, took)
	}
	if err := r.rounds(rounds); err != nil {
		return err
	}
	col, err := c.collect()
	if err != nil {
		return err
	}
	if err := r.collection(col); err != nil {
		return err
	}
	err = c.end()
	runtime.KeepAlive(c)
	return err
}
