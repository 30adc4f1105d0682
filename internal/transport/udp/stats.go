package udp

import (
	"fmt"
	"strings"
	"time"

	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// Stats counts what has come to a rank, and left it, since New.
type Stats struct {
	// Seal is what became of datagrams that came, by whether they were of this job.
	Seal seal.Stats
	// Received is how many datagrams came, also foreign ones; Truncated those that were longer than any of this job;
	// Malformed those of this job whose contents were against the rules; Dropped those that the system had no room
	// for, as far as it tells. Returned is how many datagrams of this rank's came back, because nobody received where
	// they went.
	Received, Truncated, Malformed, Dropped, Returned uint64
	// Sent is how many datagrams left, counting those together that the system is given together; Refused what it did
	// not take.
	Sent, Refused uint64
	// Overflows is how many requests found no room at this rank. Pool is the bytes of the receive space that were
	// ever needed.
	Overflows uint64
	Pool      int
	// Tickets is what this rank may still send, where Config.Limits says how much that is.
	Tickets tickets.Stats
}

// Stats may be called by all but a Sink in its Record or Bulk. It may wait for a Poll under way.
func (c *Conduit) Stats() Stats {
	c.poll.Lock()
	defer c.poll.Unlock()
	c.engine.Lock()
	defer c.releaseEngine()
	return c.stats()
}

// Segments sums up the segments to and from all peers. It takes time in proportion to them, and may be called as Stats.
func (c *Conduit) Segments() (sum reliable.Stats) {
	c.poll.Lock()
	defer c.poll.Unlock()
	c.engine.Lock()
	defer c.releaseEngine()
	for p := range c.peers {
		s := c.core.Stats(p)
		sum.Sent += s.Sent
		sum.Resent += s.Resent
		sum.Timeouts += s.Timeouts
		sum.Received += s.Received
		sum.Duplicates += s.Duplicates
	}
	return sum
}

// stats is Stats under poll and engine.
func (c *Conduit) stats() Stats {
	r, o := &c.recv, &c.out
	return Stats{
		Seal: c.box.Stats(), Received: r.datagrams, Truncated: r.truncated, Malformed: r.malformed, Dropped: c.wire.Dropped(), Returned: r.returned,
		Sent: o.datagrams, Refused: o.failed, Overflows: r.overflows, Pool: r.pool.Memory(), Tickets: c.window.Stats(),
	}
}

// String names what is not zero.
func (s Stats) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d datagrams came", s.Received)
	for _, f := range []struct {
		n    uint64
		name string
	}{
		{s.Seal.Opened, "of this job"},
		{s.Seal.Foreign, "of another job, key or mode"},
		{s.Seal.Forged, "forged"},
		{s.Seal.Damaged, "damaged"},
		{s.Seal.Replayed, "repeated"},
		{s.Seal.Old, "too old"},
		{s.Seal.Stray, "for other ranks"},
		{s.Seal.Short, "too short"},
		{s.Truncated, "too long"},
		{s.Malformed, "against the rules"},
		{s.Dropped, "without room"},
		{s.Overflows, "beyond the credits"},
	} {
		if f.n > 0 {
			fmt.Fprintf(&b, ", %d %s", f.n, f.name)
		}
	}
	fmt.Fprintf(&b, "; %d left", s.Sent)
	if s.Returned > 0 {
		fmt.Fprintf(&b, ", %d came back", s.Returned)
	}
	if s.Refused > 0 {
		fmt.Fprintf(&b, ", %d refused by the system", s.Refused)
	}
	return b.String()
}

// reportWait is how long Report waits for a Poll under way.
const reportWait = 100 * time.Millisecond

// Report tells in lines of text how the conduit is: what came and left, and for each peer towards which something is
// unacknowledged or waits, how much. It is for reports of a rank that may hang, and may be called by all, at any
// time; it waits for a Poll under way, but not long.
func (c *Conduit) Report() string {
	end := time.Now().Add(reportWait)
	for !c.poll.lockBackground() {
		if time.Now().After(end) {
			return "udp: somebody has been polling for " + reportWait.String() + "\n"
		}
		time.Sleep(doze)
	}
	defer c.poll.Unlock()
	for !c.engine.tryLock() {
		if time.Now().After(end) {
			return "udp: somebody has been sending for " + reportWait.String() + "\n"
		}
		time.Sleep(doze)
	}
	defer c.releaseEngine()
	var b strings.Builder
	fmt.Fprintf(&b, "udp: %v\n", c.stats())
	for p := range c.peers {
		if s := c.core.Stats(p); s.Unacknowledged > 0 || s.Waiting > 0 {
			b.WriteString(c.peerState(p).reportPeer(p, &s))
		}
	}
	return b.String()
}

func (ln *peerState) reportPeer(peer int, s *reliable.Stats) string {
	return fmt.Sprintf("udp: rank %d: %d packets unacknowledged, %d wait; round trip %v, window %d KiB, %d of %d sent again, datagrams of %d bytes\n",
		peer, s.Unacknowledged, s.Waiting, s.SmoothRTT, s.CongestionWindow>>10, s.Resent, s.Sent, ln.mtu)
}

// strangers says what came meanwhile that was not of this job: a peer that seems silent may have another key or mode.
// Under engine.
func (c *Conduit) strangers() string {
	s := c.box.Stats()
	if s.Foreign+s.Forged+s.Damaged == 0 {
		return ""
	}
	return fmt.Sprintf("; since the start %d datagrams of another job, key or mode came, %d forged and %d damaged ones, from whomever",
		s.Foreign, s.Forged, s.Damaged)
}
