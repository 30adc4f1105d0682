package ring

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/spin"
)

// copyStep is how many bytes one poll copies at most.
const copyStep = 256 << 10

// tinyCopies is how many copies are under way at once with queues of two records.
const tinyCopies = 2

// Memory is what a conduit.Remote needs beside Get and Put, which the Endpoint has.
type Memory interface {
	Reach(peer int) conduit.Reach
	Allocate(size int64) ([]byte, error)
	Expose(peer int, mem []byte) (conduit.Key, conduit.Status)
	Release(peer int, k conduit.Key) error
	Map(peer int, k conduit.Key) ([]byte, *atomic.Bool, error)
	// Move copies len(local) bytes between local and the peer's memory under a key, at offset off, which the key holds.
	Move(peer int, get bool, local []byte, k conduit.Key, off int64) error
	// Close comes when the Endpoint has ended. It may unmap the segments, if later reads still find zeros or other data
	// in their place.
	Close() error
}

// copies are the gets and puts of this rank. The poller makes them, oldest first, a piece in each poll.
type copies struct {
	most int32        // under way at once; 0 for any number
	busy atomic.Int32 // under way
	// Under the poll lock.
	current copyJob // the one that is being made, if its done is not nil
	mu      spin.Lock
	list    copyList // guarded by mu: those that follow
	ended   bool     // guarded by mu: no more are taken
}

// copyList is a queue of copies. Its memory is used again. A copy is moved once on average, however many wait.
type copyList struct {
	jobs  []copyJob
	first int // the oldest; those before it have been taken
	moved int // how many have been moved, for tests
}

func (l *copyList) pushJob(j copyJob) { l.jobs = append(l.jobs, j) }

// popJob takes the oldest out; false if there is none.
func (l *copyList) popJob() (j copyJob, ok bool) {
	if l.first == len(l.jobs) {
		return j, false
	}
	j, l.jobs[l.first] = l.jobs[l.first], copyJob{}
	l.first++
	if left := len(l.jobs) - l.first; left < l.first {
		copy(l.jobs, l.jobs[l.first:])
		clear(l.jobs[left:])
		l.jobs, l.first = l.jobs[:left], 0
		l.moved += left
	}
	return j, true
}

// copyJob is a get or a put.
type copyJob struct {
	peer int
	get  bool
	key  conduit.Key
	off  int64
	rest []byte // what has not been copied
	n    int    // bytes in all
	done conduit.Completion
}

// Get implements conduit.Remote.
func (e *Endpoint) Get(peer int, dst []byte, k conduit.Key, off int64, c conduit.Completion) int {
	if !e.Reach(peer).Get {
		return -1
	}
	return e.copyJob(copyJob{peer: peer, get: true, key: k, off: off, rest: dst, n: len(dst), done: c})
}

func (e *Endpoint) Put(peer int, src []byte, k conduit.Key, off int64, c conduit.Completion) int {
	if !e.Reach(peer).Put {
		return -1
	}
	return e.copyJob(copyJob{peer: peer, key: k, off: off, rest: src, n: len(src), done: c})
}

func (e *Endpoint) copyJob(j copyJob) int {
	if e.Failed(j.peer) != nil {
		return -1
	}
	c := &e.copies
	c.mu.Lock()
	switch {
	case c.ended:
		j.n = -1
	case c.most > 0 && c.busy.Load() >= c.most:
		j.n = 0
	case j.n > 0:
		c.list.pushJob(j)
		c.busy.Add(1)
	}
	c.mu.Unlock()
	if j.n > 0 {
		e.Wake()
	}
	return j.n
}

// waits says whether there is something to copy, or being copied.
func (c *copies) waits() bool { return c.busy.Load() > 0 }

// nextCopy makes the oldest copy the current one; false if there is none. Under the poll lock.
func (c *copies) nextCopy() bool {
	if c.current.done != nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	j, ok := c.list.popJob()
	if ok {
		c.current = j
	}
	return ok
}

// copyPiece makes a piece of the oldest copy, and returns the number of pieces. Under the poll lock.
func (e *Endpoint) copyPiece() int {
	c := &e.copies
	if !c.nextCopy() {
		return 0
	}
	j := &c.current
	n := min(len(j.rest), copyStep)
	err := e.Failed(j.peer)
	if err == nil && !j.key.Holds(j.off, len(j.rest)) {
		err = &conduit.PeerError{Peer: j.peer, Err: conduit.ErrKey, Detail: fmt.Sprintf(
			"bytes %d to %d of %d", j.off, j.off+int64(len(j.rest)), j.key.Size)}
	}
	if err == nil {
		err = e.Move(j.peer, j.get, j.rest[:n], j.key, j.off)
	}
	if j.rest, j.off = j.rest[n:], j.off+int64(n); err != nil || len(j.rest) == 0 {
		c.finishCopy(err)
	}
	return 1
}

// finishCopy tells of the end of the current copy. Under the poll lock.
func (c *copies) finishCopy(err error) {
	j := c.current
	c.current = copyJob{}
	c.busy.Add(-1)
	j.done.Completed(j.n, err)
}

// endAll gives all copies up. Under the poll lock.
func (c *copies) endAll(err error) {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	for c.nextCopy() {
		c.finishCopy(err)
	}
}
