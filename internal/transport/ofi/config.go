//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"time"

	"github.com/golci/golci/conduit"
)

// Config describes one rank's end. Conduit must be the same on all ranks.
type Config struct {
	Rank, Size int
	// Job is a number that all ranks of the job know and no others, to tell messages of strangers.
	Job uint32
	// Conduit has the sizes common to all conduits. ScanLimit has no meaning here.
	Conduit conduit.Config
	// Connect is how long the first message to a peer may take; default 10 s.
	Connect time.Duration
	// Silence is how long a peer may take to answer of which the system or another rank says that it is dead; default
	// 30 ms.
	Silence time.Duration
	// DeadAfter is how long a peer with which something has been exchanged may be silent. It is asked for a sign of life
	// after a tenth of that, or 1 s where that is longer. Default 10 s.
	DeadAfter time.Duration
	// Linger is how long Close waits for what has been sent, at most. For four times as long the conduit goes on after
	// that, until its peers have heard of the end. Default 2 s.
	Linger time.Duration
}

const (
	defaultLinger    = 2 * time.Second
	defaultConnect   = 10 * time.Second
	defaultSilence   = 30 * time.Millisecond
	defaultDeadAfter = 10 * time.Second

	// spare is how many times a window holds what credits pay for. What a peer has taken it tells later, and credits
	// must never find less room than they pay for.
	spare = 4
)

// defaults and most are the sizes that conduit.Config.WithDefaults wants.
var (
	defaults = conduit.Config{Loan: 200, MaxRecord: 8192 + 256, BulkChunk: 32 << 10, BulkSlots: 8}
	most     = conduit.Config{
		Loan: 1 << 17, MaxRecord: 16 << 20, ReplySpace: 1 << 28, BulkChunk: 16 << 20, BulkSlots: 1 << 10,
	}
)

// geometry is what the sizes come to, in bytes unless said otherwise.
type geometry struct {
	maxRecord int
	loan      int    // credits
	requests  uint32 // of a window, beyond which requests are refused
	window    uint32 // beyond which everything is refused
	tellAt    uint32 // after how much that was taken a peer is told of it
	chunk     int
	slots     int // chunks
	tiny      bool
}

func newGeometry(c conduit.Config) (geometry, error) {
	c, err := c.WithDefaults(defaults, most)
	if err != nil {
		return geometry{}, err
	}
	g := geometry{
		maxRecord: c.MaxRecord &^ 7, loan: c.Loan, chunk: max(c.BulkChunk, 0), slots: c.BulkSlots, tiny: c.TinyQueues,
	}
	longest := cost(g.maxRecord)
	g.requests = spare*uint32(c.Loan)*cost(conduit.CreditBytes) + 2*longest
	g.window = g.requests + uint32(c.ReplySpace) + 2*longest
	g.tellAt = g.requests / 8
	if g.tiny {
		g.loan, g.slots, g.tellAt = 0, min(g.slots, 2), 0
		g.requests, g.window = 2*cost(64), 2*max(longest, 2*cost(64))
	}
	return g, nil
}

// doesAdmit tells whether a record of a class whose cost is that has room, with so much under way.
func (g *geometry) doesAdmit(class conduit.Class, under, cost uint32) bool {
	switch {
	case g.tiny && class == conduit.Request:
		return under == 0 || under+cost <= g.requests
	case g.tiny:
		return under <= g.window/2
	case class == conduit.Request:
		return under+cost <= g.requests
	}
	return under+cost <= g.window
}

// fit shortens chunks so that no message is longer than n bytes. It is false if records are.
func (g *geometry) fit(n int) bool {
	if g.longest() > n && g.chunk > 0 {
		g.chunk = max((n-header-chunkHead)&^7, 0)
	}
	return g.longest() <= n
}

// longest is the longest message in bytes.
func (g *geometry) longest() int {
	n := header + g.maxRecord
	if g.chunk > 0 {
		n = max(n, header+chunkHead+(g.chunk+7)&^7)
	}
	return n
}

// caps never has Ordered: providers complete messages that they divide after shorter ones that came later.
func (g *geometry) caps() conduit.Caps {
	c := conduit.Caps{Name: Name, MaxRecord: g.maxRecord, Loan: g.loan}
	if g.chunk > 0 {
		c.BulkChunk, c.BulkSlots = g.chunk, g.slots
	}
	return c
}
