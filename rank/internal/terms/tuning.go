package terms

import (
	"cmp"
	"fmt"
	"time"

	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/tickets"
)

// Tuning has bounds that no setting changes, for tests and benchmarks. The zero value is right for programs. All ranks
// of a job have the same.
type Tuning struct {
	// Credits, where loans follow demand; docs/design/credits.md explains them.

	Bank        int // credits not lent at the start; 0: from the default table, negative: none
	MaxLoan     int // the most credits that one peer is lent; 0: 400, and 2000 over a network
	LenderLimit int // by how many credits one peer's loan may grow in an epoch, while the bank is not rich; 0: 32
	RevokeLimit int // how many credits a peer that still sends gives back in an epoch; 0: 32
	Scavenge    int // how many peers are asked for credits at once; 0: 6
	Epoch       int // requests received in a credit epoch; 0: 1024

	// What a rank may have under way over a network; docs/design/portals.md explains it. Without flow control zeros
	// stand for 250 records, the loan of one peer and 256 KiB, if all three are 0.

	Messages      int // records, at least 12; 0: what credits allow
	RequestChunks int // KiB of requests; 0: what credits allow
	ReplyChunks   int // KiB of replies; 0: what their requests reserved

	// What one poll takes; negative: all.

	PollReplies  int // over a network; 0: 12
	PollRequests int // 0: 64
	PollSystem   int // system records, over a network; 0: all

	MinRTO     time.Duration // the shortest time after which a datagram that is not acknowledged is sent again; 0: 2 ms
	ExitSettle time.Duration // how long a rank that is told of the end waits for its own program's exit code; 0: 50 ms
}

// Defaults of Tuning.
const (
	lenderLimit = 32
	revokeLimit = 32
	scavenge    = 6
	creditEpoch = 1024
	pollReplies = 12
)

const leastRTO = 100 * time.Microsecond

// Check looks for values that no layer takes.
func (t *Tuning) Check() error {
	for _, x := range []struct {
		name      string
		n         int
		low, high int
	}{
		{"Bank", t.Bank, -1 << 24, 1 << 24},
		{"MaxLoan", t.MaxLoan, 0, credit.MaxLoan},
		{"LenderLimit", t.LenderLimit, 0, credit.MaxLoan},
		{"RevokeLimit", t.RevokeLimit, 0, 255},
		{"Scavenge", t.Scavenge, 0, 64},
		{"Epoch", t.Epoch, 0, 1 << 30},
		{"Messages", t.Messages, 0, tickets.MaxMessages},
		{"RequestChunks", t.RequestChunks, 0, tickets.MaxChunks},
		{"ReplyChunks", t.ReplyChunks, 0, tickets.MaxChunks},
	} {
		if x.n < x.low || x.n > x.high {
			return fmt.Errorf("%w: Tuning.%s is %d, want %d to %d", ErrArgument, x.name, x.n, x.low, x.high)
		}
	}
	if t.MinRTO != 0 && t.MinRTO < leastRTO {
		return fmt.Errorf("%w: Tuning.MinRTO is %v, want at least %v", ErrArgument, t.MinRTO, leastRTO)
	}
	if t.ExitSettle < 0 {
		return fmt.Errorf("%w: Tuning.ExitSettle is %v", ErrArgument, t.ExitSettle)
	}
	return nil
}

// tuneCredits puts the bounds of Tuning into the terms of credits, whose largest loan is most by default.
func (t *Tuning) tuneCredits(c *credit.Config, most int) {
	c.Max = max(cmp.Or(t.MaxLoan, most), c.PerPeer)
	c.LenderLimit = cmp.Or(t.LenderLimit, lenderLimit)
	c.RevokeLimit = cmp.Or(t.RevokeLimit, revokeLimit)
	c.Scavenge = cmp.Or(t.Scavenge, scavenge)
	c.Epoch = cmp.Or(t.Epoch, creditEpoch)
}
