package udp

import (
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/reliable"
)

// keepFrom is the least length in bytes of bulk data that are sent from where they lie. What is kept is the caller's
// again when the peer has acknowledged it. So where two ranks exchange data, their directions take turns. Below this a
// copy costs less than that.
const keepFrom = 256 << 10

// keptLoan marks the number of a message of kept data, among those that the core has taken.
const keptLoan = 1 << 62

// zeroCopySend is bulk data of one call that are sent from where they lie.
type zeroCopySend struct {
	owner conduit.Completion // nil: not in use
	peer  int
	n     int
	err   error
}

// zeroCopySends counts bulk data that the core sends from where it lies: what is in flight, and what has ended. Any
// holder of engine may find that some has ended; only a poll, or Close, reports that.
type zeroCopySends struct {
	// Under engine.
	out      []zeroCopySend // by number
	free     []int          // of out
	ended    []zeroCopySend
	hasEnded atomic.Bool // there are ended; written under engine
	// Under poll; of Close in the end.
	reported []zeroCopySend
}

// keepData sends data from where they lie, as far as the window goes.
func (c *Conduit) keepData(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	if !c.engine.tryLock() {
		return 0, false
	}
	c.now = c.clock()
	switch ln := c.peerState(peer); {
	case c.isClosed(): // Close may have seen to what is kept
		n = -1
	case !ln.saidBye && c.know(peer):
		n, kept = c.handKept(peer, id, off, data, keep)
	}
	if n > 0 {
		c.turn()
		c.background.expectAt(time.Duration(c.due.Load()))
	}
	c.releaseEngine()
	return n, kept
}

// handKept gives the core what of data the peer has room for. What is short the core has copied.
func (c *Conduit) handKept(peer int, id uint64, off int64, data []byte, keep conduit.Completion) (n int, kept bool) {
	ln, k := c.peerState(peer), &c.zeroCopy
	room := uint64(c.g.slots*c.g.chunk) - (ln.bulk.sent.Load() - ln.bulkFreed.Load())
	n = min(len(data), int(room))
	if n < len(data) {
		n -= n % c.g.chunk // not in crumbs
	}
	if n <= 0 {
		return 0, false
	}
	i := k.takeNumber(zeroCopySend{owner: keep, peer: peer, n: n})
	m := reliable.Message{Data: data[:n], Tag: tagBulk, Put: true, Place: id, Offset: uint64(off), ID: keptLoan | uint64(i)}
	st := c.core.Send(peer, m, c.now)
	if st != reliable.Taken {
		k.giveNumber(i)
		if st != reliable.Copied {
			return 0, false
		}
	}
	ln.bulk.sent.Add(uint64(n))
	return n, st == reliable.Taken
}

// takeNumber gives x a number.
func (k *zeroCopySends) takeNumber(x zeroCopySend) (i int) {
	if n := len(k.free); n > 0 {
		i, k.free = k.free[n-1], k.free[:n-1]
		k.out[i] = x
		return i
	}
	k.out = append(k.out, x)
	return len(k.out) - 1
}

// giveNumber takes a number back, and returns what it stood for.
func (k *zeroCopySends) giveNumber(i int) zeroCopySend {
	x := k.out[i]
	k.out[i] = zeroCopySend{}
	k.free = append(k.free, i)
	return x
}

// none tells whether the core has no kept data.
func (k *zeroCopySends) none() bool { return len(k.free) == len(k.out) }

// keptEnded notes that kept data have arrived, or why they need not. Under engine.
func (c *Conduit) keptEnded(i int, err error) {
	k := &c.zeroCopy
	x := k.giveNumber(i)
	x.err = err
	k.ended = append(k.ended, x)
	k.hasEnded.Store(true)
	c.ring()
}

// collectEnded readies what has ended to be told of. Under poll and engine: the failure of a peer, which comes after
// the ends that it causes, is known then.
func (k *zeroCopySends) collectEnded() {
	if k.hasEnded.Load() {
		k.reported = append(k.reported, k.ended...)
		clear(k.ended)
		k.ended = k.ended[:0]
		k.hasEnded.Store(false)
	}
}

// waiting tells whether some have ended that are to be told of. Under poll.
func (k *zeroCopySends) waiting() bool { return len(k.reported) > 0 || k.hasEnded.Load() }

// tellKept tells of kept data that have ended, and returns of how many calls. Under poll, or in Close.
func (c *Conduit) tellKept() int {
	k := &c.zeroCopy
	for _, x := range k.reported {
		if x.err != nil {
			x.err = c.Failed(x.peer)
		}
		x.owner.Completed(x.n, x.err)
	}
	n := len(k.reported)
	clear(k.reported)
	k.reported = k.reported[:0]
	return n
}

// dropKept gives up the peers that have kept data at the end of Close, which tells of them. Under poll.
func (c *Conduit) dropKept() {
	c.engine.Lock()
	defer c.engine.Unlock()
	defer c.zeroCopy.collectEnded()
	for _, x := range c.zeroCopy.out {
		if x.owner != nil && c.peerState(x.peer).known {
			c.failPeer(x.peer, conduit.ErrClosed, "")
			c.core.Remove(x.peer, conduit.ErrClosed)
		}
	}
}
