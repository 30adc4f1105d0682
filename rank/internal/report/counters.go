package report

import (
	"sync"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/tool"
	"github.com/golci/golci/internal/transport/udp"
)

// Counters gives the performance variables of a rank's threads, credits and datagrams, also beyond the end of what they
// are read from. Exported fields are set at the start, and do not change.
type Counters struct {
	Rank     int
	Threads  *fult.Scheduler
	Endpoint *am.Endpoint
	Wire     conduit.Conduit

	mu   sync.Mutex  // held while they are read, so that nothing is let go of meanwhile
	over bool        // under mu: there is nothing to read any more
	last tool.Values // under mu: what was read last, if over
}

// Read gives the values. It waits for a poll that is under way, so handlers must not call it. After the rank's end it
// gives the last values.
func (c *Counters) Read() tool.Values {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over {
		return c.last
	}
	return c.readAll()
}

// Keep reads the values for the last time. It may be called again.
func (c *Counters) Keep() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.last, c.over = c.readAll(), true
	}
}

// readAll reads them. The caller holds mu.
func (c *Counters) readAll() (v tool.Values) {
	v[tool.Workers], v[tool.ThreadsAlive] = uint64(c.Threads.Workers()), uint64(c.Threads.Live())
	countCredits(c.Endpoint.Credits(), c.Rank, &v)
	if u := datagramsOf(c.Wire); u != nil {
		countDatagrams(u, &v)
	}
	return v
}

func countCredits(c am.CreditReport, rank int, v *tool.Values) {
	v[tool.RequestsReceived], v[tool.CreditsBanked] = c.Stats.Requests, uint64(c.Banked)
	for i, p := range c.Peers {
		if i == rank {
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
