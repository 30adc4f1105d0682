// Package shm is the conduit between processes of one node, over shared memory. Linux only.
//
// Each rank owns one memfd, its receive space, laid out by package ring. Ranks meet on abstract Unix sockets, prove
// to each other that they know the job's key, and pass the memfds. No name ever appears in a file system. The kernel
// frees everything when the last process ends, however it ends. The sockets stay open: one that ends without a
// farewell tells that the peer died.
package shm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/golci/golci/conduit"
)

// Name is what Caps calls this conduit.
const Name = "shm"

// Config tells New what job this is.
type Config struct {
	// Rank is this rank, Size the number of ranks of the job.
	Rank, Size int
	// JobID is a name that no other job on the node has, the same in all ranks.
	JobID string
	// Key is a secret that only the ranks of the job know.
	Key string
	// Local are the ranks on this node, this one included, in any order; the same set in all of them.
	Local []int
	// First and Count are the ranks that start together, this one among them, if others start before or later; Count 0
	// means that all do. Ranks below First have started before, and may have ended. Those from First+Count on may start
	// later. Only one group of ranks starts at a time.
	First, Count int
	// Late is the first rank that does not start with the job. The job has room for more ranks if Size is greater.
	Late int
	// Timeout bounds the wait for the other ranks; default one minute.
	Timeout time.Duration
	// Conduit sizes the queues; the same in all ranks.
	Conduit conduit.Config
}

// errMissing means that ranks did not come to the exchange in time; the text names them.
var errMissing = errors.New("shm: ranks missing from the exchange")

// errUnsupported means that this platform has no shm conduit.
var errUnsupported = errors.New("shm: not supported on this platform")

const defaultTimeout = time.Minute

func (c *Config) checkConfig() error {
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Count == 0 {
		c.First, c.Count, c.Late = 0, c.Size, c.Size
	}
	c.Local = slices.Clone(c.Local)
	slices.Sort(c.Local)
	for i, r := range c.Local {
		if r < 0 || r >= c.Size || i > 0 && r == c.Local[i-1] {
			return fmt.Errorf("%w: local ranks %v of %d", conduit.ErrConfig, c.Local, c.Size)
		}
	}
	if !slices.Contains(c.Local, c.Rank) {
		return fmt.Errorf("%w: rank %d is not among the local ranks %v", conduit.ErrConfig, c.Rank, c.Local)
	}
	if c.First < 0 || c.Count < 1 || c.First+c.Count > c.Size || c.Late < 1 || c.hasLateRoom() && len(c.Local) < c.Size {
		return fmt.Errorf("%w: %d ranks from %d of %d, late ones from %d on; local %d", conduit.ErrConfig, c.Count,
			c.First, c.Size, c.Late, len(c.Local))
	}
	if c.JobID == "" || c.Key == "" {
		return fmt.Errorf("%w: job id and key must not be empty", conduit.ErrConfig)
	}
	return nil
}

// hasLateRoom tells whether ranks may start later than others.
func (c *Config) hasLateRoom() bool { return c.Late < c.Size }

// late tells a rank that does not start with the job.
func (c *Config) late(rank int) bool { return rank >= c.Late }

// mate tells a rank that starts with this one.
func (c *Config) mate(rank int) bool { return rank >= c.First && rank < c.First+c.Count }
