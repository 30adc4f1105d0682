package rank

import (
	"cmp"
	"fmt"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/conduit/portals"
	"github.com/golci/golci/internal/conduit/udp"
	"github.com/golci/golci/internal/credit"
	"github.com/golci/golci/internal/settings"
)

// Where all messages go over a network (GOLCI_CONDUIT=udp) a loan has to last for a round trip, and its space is taken only while
// something lies in it; where some go through rings, loans are sized for these. wideLoan is
// the credits then lent to each peer of a small job, wideLoans those lent to all.
const (
	wideLoan  = 2000
	wideLoans = 32000
)

// recordSlack is room in a record for headers and arguments.
const recordSlack = 256

// onePool reports whether a rank's receive space is one pool, from which all its peers are lent.
func onePool(o *options) bool { return settings.Conduit.Get(o.values) == portals.Name }

// flowControl is the mode of credits. Over rings, one for each pair, a credit lent to one peer is of no use to another,
// so there loans stay as they are unless it is asked otherwise.
func flowControl(o *options) credit.Mode {
	switch settings.FlowControl.Get(o.values) {
	case "dynamic":
		return credit.Dynamic
	case "static":
		return credit.Fixed
	case "none":
		return credit.NoFlow
	}
	if onePool(o) {
		return credit.Dynamic
	}
	return credit.Fixed
}

// wideEager is the largest message in bytes that does not ask first where loans stay as they are. Over a network asking takes a
// round trip; through rings a message of this size is copied twice before two ranks agree on one copy.
const wideEager = 16 << 10

// defaultEager is the same where loans follow demand: every peer must have the credits of a longest record.
const defaultEager = 8 << 10

// eager is the largest message in bytes that is to travel without asking; 0 where the size of the job decides.
func eager(o *options) int {
	if e := int(settings.Eager.Get(o.values)); e > 0 || flowControl(o) == credit.Dynamic {
		return e
	}
	return wideEager
}

// EagerLimit is the largest message in bytes that a rank sends without asking its receiver first. It holds for a job of
// size ranks (at least 1) with that configuration and the environment. It is GOLCI_EAGER, or what the mode of flow
// control chooses. It is never more than one record and the loan of a peer hold, which shrink as jobs grow. It starts
// nothing and does not block. Error: ErrArgument.
func EagerLimit(size int, cfg Config) (int, error) {
	o, err := cfg.read()
	if err != nil {
		return 0, err
	}
	if size < 1 {
		return 0, fmt.Errorf("%w: a job of %d ranks", ErrArgument, size)
	}
	return o.eagerLimit(size), nil
}

func (o *options) eagerLimit(size int) int {
	t := terms(o, size)
	return max(0, min(cmp.Or(eager(o), defaultEager), am.PayloadOf(record(o, size), &t)))
}

// record is the longest record in bytes.
func record(o *options, size int) int {
	e := eager(o)
	if e == 0 {
		e = defaultEager
		if flowControl(o) == credit.Dynamic {
			// Every peer must have the credits of a longest record, so in large jobs records are short.
			perPeer, _ := credit.Defaults(size, chunk)
			e = min(e, max(chunk-recordSlack, perPeer*credit.Unit-recordSlack))
		}
	}
	return (e + recordSlack + 7) &^ 7
}

// chunk chooses the default table of credits: that for chunks of 1 KiB.
const chunk = 1024

// terms are the terms of credits, the same on all ranks because their settings are.
func terms(o *options, size int) credit.Config {
	c := credit.Terms(size, chunk)
	c.Mode = flowControl(o)
	c.Min = credit.Cost(record(o, size))
	if n := settings.Loan.Get(o.values); n > 0 {
		c.PerPeer = n
	} else if c.Mode != credit.Dynamic {
		c.PerPeer = credit.Static(size)
		if settings.Conduit.Get(o.values) == udp.Name {
			c.PerPeer = max(c.PerPeer, min(wideLoan, wideLoans/size))
		}
	}
	if c.Mode != credit.Dynamic {
		return credit.Config{Mode: c.Mode, PerPeer: c.PerPeer}
	}
	c.PerPeer = max(c.PerPeer, c.Min)
	if n := settings.Bank.Get(o.values); n >= 0 {
		c.Bank = n
	}
	if n := settings.AMRecvSpace.Get(o.values); n > 0 {
		c.Bank = max(0, int(n/credit.Unit)-c.PerPeer*(size-1))
	}
	c.Max = max(settings.LoanMax.Get(o.values), c.PerPeer)
	c.LenderLimit = settings.LenderLimit.Get(o.values)
	c.RevokeLimit = settings.RevokeLimit.Get(o.values)
	c.Scavenge = settings.Scavenge.Get(o.values)
	c.Epoch = settings.Epoch.Get(o.values)
	return c
}

// conduitConfig sizes the conduit for the terms: a ring holds what its peer may ever be lent.
func conduitConfig(o *options, size int) conduit.Config {
	t := terms(o, size)
	cfg := conduit.Config{Loan: t.PerPeer, MaxRecord: record(o, size)}
	if t.Mode == credit.Dynamic && !onePool(o) {
		cfg.Loan = t.Max
	}
	if o.Sizes != nil {
		o.Sizes(&cfg)
	}
	return cfg
}

// portalsConfig sizes the conduit with one receive pool a rank.
func portalsConfig(o *options, size int) portals.Config {
	t := terms(o, size)
	limit := func(n int) int { // 0 is the conduit's default, and none here
		if n == 0 {
			return 1
		}
		return n
	}
	return portals.Config{
		Conduit: conduitConfig(o, size), Bank: t.Bank,
		MsgLimit: settings.MsgLimit.Get(o.values), RequestChunks: settings.SBChunks.Get(o.values),
		ReplyChunks: settings.RplChunks.Get(o.values), SafeLimit: limit(settings.SafeLimit.Get(o.values)),
		AMLimit: settings.AMLimit.Get(o.values), SysLimit: limit(settings.SysLimit.Get(o.values)),
	}
}
