package portals

import (
	"fmt"

	"github.com/golci/golci/comm/conduit"
)

// Name is what Caps calls this conduit.
const Name = "portals"

// Config sizes the conduit. The zero value of a field means its default, which is that of the GASNet conduit unless said
// otherwise. It must be the same on all ranks.
type Config struct {
	// Conduit has the sizes common to all conduits. Loan credits for each rank, the own one included, make up the request
	// space; MaxRecord is at most 4 MiB less 64 bytes; ReplySpace, the bulk fields and ScanLimit have no meaning here.
	Conduit conduit.Config
	// Bank is the number of credits of request space beyond the loans; default 0, negative is an error.
	Bank int
	// BufferChunks is the length of one receive buffer for requests in chunks of 1 KiB; default 1024. A buffer is at least two of the
	// longest records long.
	BufferChunks int
	// Spares is how many buffers, beyond what the credits fill, may be partly served at a time; default 2, which is for ranks
	// with several threads. 1 suffices where one thread sends and polls.
	Spares int
	// MsgLimit is the number of send tickets, the records of a rank that may be under way; default 250, at least 12.
	MsgLimit int
	// RequestChunks and ReplyChunks are the KiB of records under way, of requests and of replies; defaults 2048 and 256. The
	// reply space of a rank is as large as its RequestChunks, because each request under way may be answered once. Both hold the
	// longest record at least.
	RequestChunks, ReplyChunks int
	// SafeLimit, AMLimit and SysLimit bound the records that one Poll takes from a queue; defaults 12, 8 and no limit. A negative
	// limit is none.
	SafeLimit, AMLimit, SysLimit int
	// Shuffle is how many of a thousand looks at a record pass it over, so that later ones overtake it; for tests. Seed makes
	// them repeatable, as far as the calls are.
	Shuffle int
	Seed    uint64
}

// Defaults, and bounds.
const (
	chunkBytes = 1024 // of send buffer

	defaultLoan      = 200
	defaultMaxRecord = 8192 + 256
	defaultBuffer    = 1024
	defaultSpares    = 2
	defaultTickets   = 250
	defaultRequests  = 2048
	defaultReplies   = 256
	defaultSafe      = 12
	defaultAM        = 8

	minTickets = 12
	maxTickets = 1<<15 - 1
	maxChunks  = 1<<22 - 1
	maxRecord  = maxUnits * smallUnit
	maxRanks   = 1 << 22
	maxCredits = 1 << 26
)

// answerTickets is how many tickets requests leave alone: what serving one request may take.
const answerTickets = 2

// geometry is Config worked out.
type geometry struct {
	ranks, maxRecord, loan   int
	tickets, requests, reply int // of a rank: tickets and chunks
	limits                   [queues]int
	shapes                   [queues]shape
	spares                   int
	tiny                     bool
	shuffle                  uint64
	seed                     uint64
}

// The queues, in the order in which they are polled.
const (
	sysQueue = iota
	safeQueue
	amQueue
	queues
)

// queueOf is the queue that a class arrives on.
var queueOf = [...]int{conduit.Request: amQueue, conduit.Reply: safeQueue, conduit.System: sysQueue}

func newGeometry(ranks int, c Config) (*geometry, error) {
	withDefaults(&c)
	if err := check(ranks, &c); err != nil {
		return nil, err
	}
	g := &geometry{
		ranks: ranks, maxRecord: c.Conduit.MaxRecord &^ 7, loan: c.Conduit.Loan, spares: c.Spares,
		tickets: c.MsgLimit, shuffle: uint64(c.Shuffle), seed: c.Seed, tiny: c.Conduit.TinyQueues,
	}
	longest := ceil(g.maxRecord, chunkBytes)
	g.requests, g.reply = max(c.RequestChunks, longest), max(c.ReplyChunks, longest)
	g.limits = [queues]int{sysQueue: c.SysLimit, safeQueue: c.SafeLimit, amQueue: c.AMLimit}
	credits := c.Conduit.Loan*ranks + c.Bank
	buffer := c.BufferChunks * chunkBytes
	if g.tiny {
		g.loan, g.tickets, g.requests, g.reply = 0, answerTickets+2, 2*longest, longest
		credits, buffer = 2*ranks*ceil(g.maxRecord, conduit.CreditBytes), 0
	}
	g.shapes[amQueue] = newShape(conduit.CreditBytes, buffer, credits*conduit.CreditBytes, g.maxRecord, c.Spares)
	g.shapes[safeQueue] = newShape(smallUnit, buffer/4, g.requests*chunkBytes, g.maxRecord, c.Spares)
	g.shapes[sysQueue] = newShape(smallUnit, smallBuffer, (2*ranks+10)*smallUnit, g.maxRecord, c.Spares)
	return g, nil
}

func withDefaults(c *Config) {
	setDefault(&c.Conduit.Loan, defaultLoan)
	setDefault(&c.Conduit.MaxRecord, defaultMaxRecord)
	setDefault(&c.BufferChunks, defaultBuffer)
	setDefault(&c.Spares, defaultSpares)
	setDefault(&c.MsgLimit, defaultTickets)
	setDefault(&c.RequestChunks, defaultRequests)
	setDefault(&c.ReplyChunks, defaultReplies)
	setDefault(&c.SafeLimit, defaultSafe)
	setDefault(&c.AMLimit, defaultAM)
	setDefault(&c.SysLimit, -1)
}

func setDefault(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}

func check(ranks int, c *Config) error {
	for _, f := range []struct {
		name     string
		v, lo, n int
	}{
		{"ranks", ranks, 1, maxRanks},
		{"Loan", c.Conduit.Loan, 1, maxCredits},
		{"MaxRecord", c.Conduit.MaxRecord, 64, maxRecord},
		{"Bank", c.Bank, 0, maxCredits},
		{"BufferChunks", c.BufferChunks, 1, maxChunks},
		{"Spares", c.Spares, 1, 1 << 10},
		{"MsgLimit", c.MsgLimit, minTickets, maxTickets},
		{"RequestChunks", c.RequestChunks, 1, maxChunks},
		{"ReplyChunks", c.ReplyChunks, 1, maxChunks},
		{"Shuffle", c.Shuffle, 0, 999},
		{"credits in all", c.Conduit.Loan*min(ranks, maxRanks) + c.Bank, 1, maxCredits},
	} {
		if f.v < f.lo || f.v > f.n {
			return fmt.Errorf("%w: %s is %d, want %d to %d", conduit.ErrConfig, f.name, f.v, f.lo, f.n)
		}
	}
	return nil
}

func (g *geometry) caps() conduit.Caps {
	return conduit.Caps{Name: Name, MaxRecord: g.maxRecord, Loan: g.loan}
}

func ceil(n, by int) int { return (n + by - 1) / by }
