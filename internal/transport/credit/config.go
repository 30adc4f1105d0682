package credit

import (
	"errors"
	"fmt"
)

// Mode says whether loans change.
type Mode uint8

// Modes.
const (
	Dynamic Mode = iota // they follow demand
	Fixed               // they never change
	NoFlow              // there are none: every request may go, and only the receive space itself can find an overflow
)

// String is the name of the mode.
func (m Mode) String() string {
	switch m {
	case Dynamic:
		return "dynamic"
	case Fixed:
		return "static"
	case NoFlow:
		return "none"
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Largest values. The bounds on loans make the counters of notes safe to wrap: see Note.
const (
	MaxLoan       = 1<<15 - 1 // of one peer, where notes are 64 bits
	MaxLoanNarrow = 1<<11 - 1 // of one peer, where notes are 32 bits
	maxInFlight   = 64        // revokes on their way at once
)

// errConfig says that a Config cannot work.
var errConfig = errors.New("credit: bad configuration")

// ErrProtocol means that a peer has broken the protocol of credits.
var ErrProtocol = errors.New("credit: a peer broke the protocol")

// Config has the terms of a job's credits. All ranks must have the same. Counts are in credits unless said otherwise.
type Config struct {
	Mode    Mode
	PerPeer int // lent to each peer from the start
	Min     int // what a loan never falls below: at least the cost of the largest record
	Bank    int // not lent from the start
	Max     int // what a loan never grows beyond

	LenderLimit int // by how much a loan may grow in an epoch, while the bank is not rich
	Share       int // it may grow by one part in Share of the bank, where that is more; 0: never
	RevokeLimit int // what a borrower that still sends gives back in an epoch, at most
	Scavenge    int // revokes on their way at once
	Patience    int // requests received until an unanswered revoke no longer counts as on its way
	Epoch       int // requests received in an epoch

	Narrow bool // the carrier has notes of 32 bits only
}

// The constants of the Portals conduit; Share and Patience have no counterpart there.
const (
	defaultMax         = 400
	defaultLenderLimit = 32
	defaultRevokeLimit = 32
	defaultScavenge    = 6
	defaultEpoch       = 1024
	defaultShare       = 16
	defaultPatience    = 256
)

// Terms returns the dynamic scheme for a job of the given number of ranks whose records are at most chunk bytes long.
// It has the default table and the limits of the Portals conduit, but for large jobs a smaller bank.
func Terms(nodes, chunk int) Config {
	c := Config{
		Min: Cost(chunk), Max: defaultMax, LenderLimit: defaultLenderLimit, Share: defaultShare,
		RevokeLimit: defaultRevokeLimit, Scavenge: defaultScavenge, Patience: defaultPatience, Epoch: defaultEpoch,
	}
	c.PerPeer, c.Bank = Defaults(nodes, chunk)
	c.PerPeer, c.Bank = max(c.PerPeer, c.Min), min(c.Bank, mostBanked(nodes))
	c.Max = max(c.Max, c.PerPeer)
	return c
}

// Total is the number of credits that a rank of a job of the given number of ranks has, lent or banked.
func (c *Config) Total(nodes int) int { return c.PerPeer*(nodes-1) + c.Bank }

// Check returns an error, for errors.Is(err, errConfig), if c cannot work.
func (c *Config) Check() error {
	most := MaxLoan
	if c.Narrow {
		most = MaxLoanNarrow
	}
	if c.PerPeer < 1 || c.PerPeer > most {
		return fmt.Errorf("%w: a loan of %d credits is outside 1..%d", errConfig, c.PerPeer, most)
	}
	if c.Mode != Dynamic {
		return nil
	}
	switch {
	case c.Min < 1 || c.Min > c.PerPeer:
		return fmt.Errorf("%w: least loan %d, first loan %d", errConfig, c.Min, c.PerPeer)
	case c.Max < c.PerPeer || c.Max > most:
		return fmt.Errorf("%w: largest loan %d is outside %d..%d", errConfig, c.Max, c.PerPeer, most)
	case c.Bank < 0:
		return fmt.Errorf("%w: bank of %d", errConfig, c.Bank)
	case c.LenderLimit < 1 || c.Share < 0 || c.Patience < 1 || c.Epoch < 1:
		return fmt.Errorf("%w: lender limit %d, share %d, patience %d, epoch %d", errConfig,
			c.LenderLimit, c.Share, c.Patience, c.Epoch)
	case c.RevokeLimit < 1 || c.RevokeLimit > 255: // it is counted in eight bits
		return fmt.Errorf("%w: revoke limit %d is outside 1..255", errConfig, c.RevokeLimit)
	case c.Scavenge < 1 || c.Scavenge > maxInFlight:
		return fmt.Errorf("%w: %d revokes at once are outside 1..%d", errConfig, c.Scavenge, maxInFlight)
	}
	return nil
}
