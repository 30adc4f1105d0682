package udp

import (
	"crypto/ecdh"
	"fmt"
	"math"
	"net/netip"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/mmsg"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// Name is what Caps calls this conduit.
const Name = "udp"

// Wire is the socket, or a wrapper of it.
type Wire = mmsg.Socket

// Peer is what a rank must know of another, or of itself.
type Peer struct {
	// Life is the random number that the process drew when it started, and Public its part of the exchange of keys,
	// which is not used with seal.Trust.
	Life   uint64
	Public []byte
	// Paths are where datagrams to it go, in turn. It is not used of the rank itself.
	Paths []Path
}

// Path is one address of a peer.
type Path struct {
	Addr netip.AddrPort
	// Payload is how many bytes a datagram may hold on this path, as the system says; Most is what it may hold by the
	// interfaces of both ends, and is tried in time. Most counts only if it is more than Payload.
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
	// Conduit has the sizes common to all conduits. ScanLimit has no meaning here. Loan is the most credits that a
	// rank may be lent by a peer.
	Conduit conduit.Config
	// Credits is for how many credits, lent or banked, this rank has room; zero means Loan for each peer. A request
	// for which there is none is an overflow, and ends the pair.
	Credits int
	// Limits are what this rank may have under way. The zero value means: what credits allow.
	Limits tickets.Limits
	// SafeLimit, AMLimit and SysLimit bound the replies, requests and system records that one Poll takes; zero or
	// less means no limit but that of the Poll.
	SafeLimit, AMLimit, SysLimit int
	// KeepAlive is after how long a silent peer is asked for a sign of life, DeadAfter after how long it is dead.
	// Zero means a second and ten.
	KeepAlive, DeadAfter time.Duration
	// AskEvery is the least time between questions to a peer whose datagrams come back; zero means 10 ms.
	AskEvery time.Duration
	// MinRTO is the shortest time after which what is not acknowledged is sent again; zero means 2 ms.
	MinRTO time.Duration
	// Linger is how long Close waits for the next acknowledgement of what has been sent. It is also how long the conduit
	// goes on after that with what waits for peers to make room. Default 2 s.
	Linger time.Duration
	// Payload asks again how many bytes a datagram to an address may hold, when one was too large; nil for
	// mmsg.PathPayload.
	Payload func(netip.AddrPort) (int, error)
}

const (
	defaultLinger = 2 * time.Second
	maxCredits    = 1 << 28
	maxBulk       = 1 << 30 // its counters travel in 32 bits
)

// defaults and most are the sizes that conduit.Config.WithDefaults wants.
var (
	defaults = conduit.Config{Loan: 200, MaxRecord: 8192 + 256, BulkChunk: 256 << 10, BulkSlots: 8}
	most     = conduit.Config{
		Loan: 1 << 20, MaxRecord: 16 << 20, ReplySpace: 1 << 30, BulkChunk: 64 << 20, BulkSlots: 1 << 10,
	}
)

// geometry is what the sizes come to, in bytes unless said otherwise.
type geometry struct {
	maxRecord int
	loan      int    // credits
	requests  uint64 // of a stage, beyond which requests are refused
	stage     uint64 // of a stage, a power of two
	limit     uint64 // of a stage, beyond which everything is refused
	chunk     int
	slots     int // chunks
	tiny      bool
}

func newGeometry(c conduit.Config) (geometry, error) {
	c, err := c.WithDefaults(defaults, most)
	if err != nil {
		return geometry{}, err
	}
	if c.BulkChunk > 0 && int64(c.BulkChunk)*int64(c.BulkSlots) > maxBulk {
		return geometry{}, fmt.Errorf("%w: %d chunks of %d bytes, want %d bytes together at most", conduit.ErrConfig, c.BulkSlots, c.BulkChunk, maxBulk)
	}
	g := geometry{maxRecord: c.MaxRecord &^ 7, loan: c.Loan, chunk: max(c.BulkChunk, 0), slots: c.BulkSlots, tiny: c.TinyQueues}
	record := uint64(g.maxRecord + entryHeader)
	// A credit is 256 bytes of record; the header comes on top of each.
	g.requests = uint64(c.Loan*(conduit.CreditBytes+entryHeader)) + record
	g.limit = g.requests + uint64(c.ReplySpace) + record
	if g.tiny {
		g.loan, g.slots = 0, min(g.slots, 2)
	}
	g.stage = 1
	for g.stage < g.limit+record { // a wrap wastes less than a record
		g.stage *= 2
	}
	return g, nil
}

func (g *geometry) caps() conduit.Caps {
	c := conduit.Caps{Name: Name, MaxRecord: g.maxRecord, Loan: g.loan}
	if g.chunk > 0 {
		c.BulkChunk, c.BulkSlots = g.chunk, g.slots
	}
	return c
}

// pool makes the receive space. Of replies a peer sends what it was asked for, and of system records a few; with
// limits it may send as many of either as it has tickets.
func (c *Config) pool(g *geometry) *receivepool.Pool {
	credits := c.Credits
	if credits == 0 {
		credits = g.loan * (c.Size - 1)
	}
	s := receivepool.ShapeFor(credits, g.maxRecord)
	if g.tiny {
		s.Credits = 0
		return receivepool.New(s, 0, 0)
	}
	each := int(g.limit-g.requests) + c.Limits.Messages*receivepool.Size(g.maxRecord)
	return receivepool.New(s, each*c.Size, each*c.Size)
}

// window makes what bounds the records under way; nil for what credits allow.
func (c *Config) window(g *geometry) *tickets.SendWindow {
	if g.tiny {
		c.Limits = tickets.Tiny(g.maxRecord)
	}
	if c.Limits != (tickets.Limits{}) {
		g.loan = 0 // a record can be refused though credits pay for it
	}
	return tickets.New(c.Limits, g.maxRecord)
}

// limits are how many entries of each queue one Poll takes.
func (c *Config) limits() (l [receivepool.Queues]int) {
	for q, n := range [...]int{receivepool.SYS: c.SysLimit, receivepool.SAFE: c.SafeLimit, receivepool.AM: c.AMLimit, receivepool.Bulk: 0} {
		if l[q] = n; n <= 0 {
			l[q] = math.MaxInt
		}
	}
	return l
}

func (c *Config) checkConfig() error {
	switch {
	case c.Size < 1 || c.Rank < 0 || c.Rank >= c.Size:
		return fmt.Errorf("%w: rank %d in a job of %d", conduit.ErrConfig, c.Rank, c.Size)
	case c.Wire == nil:
		return fmt.Errorf("%w: no socket", conduit.ErrConfig)
	case c.Credits < 0 || c.Credits > maxCredits:
		return fmt.Errorf("%w: room for %d credits, want 0 to %d", conduit.ErrConfig, c.Credits, maxCredits)
	case len(c.Peers) != c.Size:
		return fmt.Errorf("%w: %d peers in a job of %d", conduit.ErrConfig, len(c.Peers), c.Size)
	}
	for r := range c.Peers {
		if r != c.Rank && len(c.Peers[r].Paths) == 0 {
			return fmt.Errorf("%w: no path from rank %d to rank %d", conduit.ErrConfig, c.Rank, r)
		}
	}
	return c.Limits.Check()
}
