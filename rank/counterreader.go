package rank

import (
	"sync"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/transport/udp"
)

// counterReader keeps the counters of a rank beyond the end of what they are read from.
type counterReader struct {
	mu   sync.Mutex  // held while they are read, so that nothing is let go of meanwhile
	over bool        // under mu: there is nothing to read any more
	last tool.Values // under mu: what was read last, if over
}

// Counters gives the performance variables of the rank's threads, credits and datagrams. Those of layers are 0. It
// takes time in proportion to the ranks of the job, and waits for a poll that is under way, so handlers must not call
// it. After the rank's end it gives the last values.
func (r *Rank) Counters() tool.Values {
	c := &r.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return c.last
	}
	return r.readCounters()
}

// keepCounters reads the counters for the last time. It may be called again.
func (r *Rank) keepCounters() {
	c := &r.counted
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.last, c.over = r.readCounters(), true
	}
}

// readCounters reads them. The caller holds counterReader.mu.
func (r *Rank) readCounters() (v tool.Values) {
	v[tool.Workers], v[tool.ThreadsAlive] = uint64(r.sched.Workers()), uint64(r.sched.Live())
	r.countCredits(&v)
	if u := datagramsOf(r.wire); u != nil {
		countDatagrams(u, &v)
	}
	return v
}

func (r *Rank) countCredits(v *tool.Values) {
	c := r.ep.Credits()
	v[tool.RequestsReceived], v[tool.CreditsBanked] = c.Stats.Requests, uint64(c.Banked)
	for i, p := range c.Peers {
		if i == r.job.Rank {
			continue // its own loan
		}
		v[tool.CreditsLent] += uint64(p.Lent.Loan)
		v[tool.CreditsBorrowed] += uint64(p.Borrowed.Loan)
		v[tool.CreditsInUse] += uint64(p.Borrowed.InUse)
	}
	s := &c.Stats
	v[tool.CreditEpochs], v[tool.CreditNeeds], v[tool.CreditsGranted] = s.Epochs, s.Needs, s.Granted
	v[tool.CreditNeedsLimited], v[tool.CreditNeedsDenied] = s.Limited, s.Denied
	v[tool.CreditRevokes], v[tool.CreditsReturned] = s.Revokes, s.Returned
}

// datagramsOf is the conduit of datagrams in c, nil if there is none.
func datagramsOf(c conduit.Conduit) *udp.Conduit {
	if m, ok := c.(interface{ Far() conduit.Conduit }); ok {
		c = m.Far()
	}
	u, _ := c.(*udp.Conduit)
	return u
}

func countDatagrams(u *udp.Conduit, v *tool.Values) {
	s := u.Stats()
	v[tool.DatagramsSent], v[tool.DatagramsReceived] = s.Sent, s.Received
	v[tool.DatagramsRefused], v[tool.DatagramsDropped] = s.Refused, s.Dropped
	v[tool.DatagramsMalformed], v[tool.DatagramsForeign] = s.Malformed+s.Truncated, s.Seal.Refused()
	all := u.Segments()
	v[tool.SegmentsSent], v[tool.SegmentsResent] = all.Sent, all.Resent
	v[tool.RetransmissionTimeouts], v[tool.SegmentsDuplicate] = all.Timeouts, all.Duplicates
}
