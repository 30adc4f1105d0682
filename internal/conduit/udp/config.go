package udp

import (
	"crypto/ecdh"
	"fmt"
	"net/netip"
	"time"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/udp/faulty"
	"github.com/golci/golci/internal/conduit/udp/seal"
)

// Name is what Caps calls this conduit.
const Name = "udp"

// Wire is the socket: *mmsg.Socket, or a wrapper of it.
type Wire = faulty.Wire

// Peer is what a rank must know of another, or of itself.
type Peer struct {
	// Life is the random number that the process drew when it started, and Public its part of the exchange of keys, which is not used
	// with seal.Trust.
	Life   uint64
	Public []byte
	// Paths are where datagrams to it go, in turn. It is not used of the rank itself.
	Paths []Path
}

// Path is one address of a peer.
type Path struct {
	Addr netip.AddrPort
	// Payload is how many bytes a datagram may hold on this path, as the system says; Most is what it may hold by the interfaces of
	// both ends, and is tried in time. Most counts only if it is more than Payload.
	Payload, Most int
}

// Config describes one rank's end. Conduit, Mode and the times must be the same on all ranks.
type Config struct {
	Rank, Size int
	// Key is the secret of the job, at least seal.MinKey bytes. It is not kept.
	Key []byte
	// Private is this rank's part of the exchange of keys (seal.NewPrivate), which is not used with seal.Trust.
	Private *ecdh.PrivateKey
	// Mode says how far the network is trusted.
	Mode seal.Mode
	// Wire is the socket; the conduit closes it.
	Wire Wire
	// Peers are all ranks of the job, by rank.
	Peers []Peer
	// Conduit has the sizes common to all conduits. ScanLimit has no meaning here.
	Conduit conduit.Config
	// KeepAlive is after how long a silent peer is asked for a sign of life, DeadAfter after how long it is dead. Zero means a
	// second and ten.
	KeepAlive, DeadAfter time.Duration
	// MinRTO is the shortest time after which what is not acknowledged is sent again; zero means 2 ms.
	MinRTO time.Duration
	// Linger is how long Close waits for what has been sent to be acknowledged, and how long the conduit goes on afterwards with
	// what then still waits for peers to make room; default 2 s.
	Linger time.Duration
	// Payload asks again how many bytes a datagram to an address may hold, when one was too large; nil for mmsg.PathPayload.
	Payload func(netip.AddrPort) (int, error)
}

const (
	defaultLoan      = 200
	defaultMaxRecord = 8192 + 256
	defaultChunk     = 256 << 10
	defaultSlots     = 8
	defaultLinger    = 2 * time.Second
	maxLoan          = 1 << 20
	maxMaxRecord     = 16 << 20
	maxChunk         = 64 << 20
	maxSlots         = 1 << 10
	maxReply         = 1 << 30
	maxBulk          = 1 << 30 // its counters travel in 32 bits
	tinyRequests     = 2 * (64 + entryHeader)
)

// geometry is what the sizes come to, in bytes unless said otherwise.
type geometry struct {
	maxRecord int
	loan      int    // credits
	requests  uint64 // of a stage, beyond which requests are refused
	stage     uint64 // of a stage, a power of two
	limit     uint64 // of a stage, beyond which everything is refused
	window    uint64 // sent and not taken from the inbox
	chunk     int
	slots     int // chunks
	tiny      bool
}

func newGeometry(c conduit.Config) (geometry, error) {
	setDefault(&c.Loan, defaultLoan)
	setDefault(&c.MaxRecord, defaultMaxRecord)
	setDefault(&c.ReplySpace, max(c.Loan*conduit.CreditBytes, c.MaxRecord))
	setDefault(&c.BulkChunk, defaultChunk)
	setDefault(&c.BulkSlots, defaultSlots)
	for _, f := range []struct {
		name     string
		v, lo, n int
	}{
		{"Loan", c.Loan, 1, maxLoan},
		{"MaxRecord", c.MaxRecord, 64, maxMaxRecord},
		{"ReplySpace", c.ReplySpace, 1, maxReply},
		{"BulkChunk", c.BulkChunk, -1 << 62, maxChunk},
		{"BulkSlots", c.BulkSlots, 1, maxSlots},
	} {
		if f.v < f.lo || f.v > f.n {
			return geometry{}, fmt.Errorf("%w: %s is %d, want %d to %d", conduit.ErrConfig, f.name, f.v, f.lo, f.n)
		}
	}
	if c.BulkChunk > 0 && int64(c.BulkChunk)*int64(c.BulkSlots) > maxBulk {
		return geometry{}, fmt.Errorf("%w: %d chunks of %d bytes, want %d bytes together at most", conduit.ErrConfig, c.BulkSlots, c.BulkChunk, maxBulk)
	}
	g := geometry{maxRecord: c.MaxRecord &^ 7, loan: c.Loan, chunk: max(c.BulkChunk, 0), slots: c.BulkSlots, tiny: c.TinyQueues}
	record := uint64(g.maxRecord + entryHeader)
	// A credit is 256 bytes of record; the header comes on top of each.
	g.requests = uint64(c.Loan*(conduit.CreditBytes+entryHeader)) + record
	g.limit = g.requests + uint64(c.ReplySpace) + record
	g.window = g.limit
	if g.tiny {
		g.loan, g.slots = 0, min(g.slots, 2)
		g.requests, g.limit = tinyRequests, tinyRequests+2*record
	}
	g.stage = 1
	for g.stage < g.limit+record { // a wrap wastes less than a record
		g.stage *= 2
	}
	return g, nil
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

func (g *geometry) caps() conduit.Caps {
	c := conduit.Caps{Name: Name, MaxRecord: g.maxRecord, Loan: g.loan}
	if g.chunk > 0 {
		c.BulkChunk, c.BulkSlots = g.chunk, g.slots
	}
	return c
}

func (c *Config) check() error {
	switch {
	case c.Size < 1 || c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("%w: rank %d in a job of %d", conduit.ErrConfig, c.Rank, c.Size)
	case c.Wire == nil:
		return fmt.Errorf("%w: no socket", conduit.ErrConfig)
	case len(c.Peers) != c.Size:
		return fmt.Errorf("%w: %d peers in a job of %d", conduit.ErrConfig, len(c.Peers), c.Size)
	}
	for r := range c.Peers {
		if r != c.Rank && len(c.Peers[r].Paths) == 0 {
			return fmt.Errorf("%w: no path from rank %d to rank %d", conduit.ErrConfig, c.Rank, r)
		}
	}
	return nil
}
