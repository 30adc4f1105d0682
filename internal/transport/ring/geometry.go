// Package ring holds the shared-memory structures of the conduits within a node. Each ordered pair of ranks has a
// single-producer, single-consumer ring of records, and a pipeline of bulk chunks beside it. A bit-vector tells a
// receiver who has mail. The endpoint ties them together. It works over any memory it is given and allocates nothing
// after set-up.
package ring

import (
	"cmp"
	"fmt"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/topology"
)

// Line is the length of a cache line; records start on one.
const Line = topology.LayoutLine

// pageBytes is the alignment of what must not share a page, so that a pair that never talks costs no memory. It is the
// smallest page of the platforms; with larger ones pairs share pages, which costs memory only.
const pageBytes = 4096

// publishParts: the consumer reports its progress after each of so many parts of the ring, or when it runs dry. Each
// report costs the producer a crossing. The producer takes an unreported part for full.
const publishParts = 8

// tinyRequests is what TinyQueues admits: two records of a line.
const tinyRequests = 2 * Line

const (
	defaultLoan      = 200
	defaultMaxRecord = 8192 + 256
	defaultChunk     = 32 << 10
	defaultSlots     = 8
	defaultScan      = 8
	maxMaxRecord     = 16 << 20
	maxLoan          = 1 << 20
	maxReply         = 1 << 30
	maxChunk         = 64 << 20
	maxSlots         = 1 << 10
)

// Geometry is what two processes must agree on to share a segment. All sizes are in bytes unless said otherwise.
type Geometry struct {
	Cap       int // of a ring, a multiple of pageBytes
	ReqLimit  int // beyond which Request records are refused
	MaxRecord int // a multiple of 8
	Loan      int // credits that ReqLimit guarantees room for
	Chunk     int // of the bulk channel, 0 without one
	Slots     int // chunks
	Publish   int // bytes after which the consumer reports its progress
	Ranks     int // sharing the segment
	Scan      bool
	Tiny      bool
}

// NewGeometry works the sizes out for a node of the given number of ranks. The error matches conduit.ErrConfig.
func NewGeometry(cfg conduit.Config, ranks int) (Geometry, error) {
	cfg = withDefaults(cfg)
	if err := check(cfg, ranks); err != nil {
		return Geometry{}, err
	}
	g := Geometry{
		MaxRecord: cfg.MaxRecord &^ 7, Loan: cfg.Loan, Chunk: max(cfg.BulkChunk, 0), Slots: cfg.BulkSlots,
		Ranks: ranks, Scan: ranks <= min(cfg.ScanLimit, 64), Tiny: cfg.TinyQueues,
	}
	record := align(g.MaxRecord, Line)
	// A window of the ring holds at most one wrap, so one pad, shorter than the record that did not fit.
	requests := align(max(cfg.Loan*conduit.CreditBytes, record)+record, Line)
	replies := align(cfg.ReplySpace+record, Line)
	g.Cap = align((requests+replies+Line)*publishParts/(publishParts-1), pageBytes)
	g.Publish = g.Cap / publishParts
	g.ReqLimit = g.Cap - Line - replies
	if g.Tiny {
		g.Loan, g.ReqLimit, g.Publish = 0, tinyRequests, 1
		g.Slots = min(g.Slots, 2)
		g.Cap = align(4*record+Line, pageBytes)
	}
	return g, nil
}

func withDefaults(c conduit.Config) conduit.Config {
	c.Loan = cmp.Or(c.Loan, defaultLoan)
	c.MaxRecord = cmp.Or(c.MaxRecord, defaultMaxRecord)
	c.ReplySpace = cmp.Or(c.ReplySpace, max(c.Loan*conduit.CreditBytes, c.MaxRecord))
	c.BulkChunk = cmp.Or(c.BulkChunk, defaultChunk)
	c.BulkSlots = cmp.Or(c.BulkSlots, defaultSlots)
	c.ScanLimit = cmp.Or(c.ScanLimit, defaultScan)
	return c
}

func check(c conduit.Config, ranks int) error {
	for _, f := range []struct {
		name     string
		v, lo, n int
	}{
		{"Loan", c.Loan, 1, maxLoan},
		{"MaxRecord", c.MaxRecord, Line, maxMaxRecord},
		{"ReplySpace", c.ReplySpace, 1, maxReply},
		{"BulkChunk", c.BulkChunk, -1 << 62, maxChunk},
		{"BulkSlots", c.BulkSlots, 1, maxSlots},
		{"ranks", ranks, 1, maxRanks},
	} {
		if f.v < f.lo || f.v > f.n {
			return fmt.Errorf("%w: %s is %d, want %d to %d", conduit.ErrConfig, f.name, f.v, f.lo, f.n)
		}
	}
	return nil
}

// Caps are the properties of a conduit with this geometry.
func (g Geometry) Caps(name string) conduit.Caps {
	c := conduit.Caps{Name: name, MaxRecord: g.MaxRecord, Loan: g.Loan, Ordered: true}
	if g.Chunk > 0 {
		c.BulkChunk, c.BulkSlots = g.Chunk, g.Slots
	}
	return c
}

func align(n, to int) int { return (n + to - 1) / to * to }
