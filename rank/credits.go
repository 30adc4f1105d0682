package rank

import (
	"cmp"
	"fmt"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/transport/credit"
	"github.com/golci/golci/internal/transport/ofi"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp"
)

// Over a network a loan has to last for a round trip. wideLoan is the most credits then lent to each peer of a small
// job from the start, and ever; wideLoans are those lent to all. Loans at the start are never larger than rings bear.
const (
	wideLoan  = 2000
	wideLoans = 32000
	mostLoan  = 400 // the most that a peer may ever be lent elsewhere
)

// Within a node a ring costs memory only where it is used, so ranks of a small job lend what several of the longest
// records take. nearRanks is how many such ranks there may be, and nearLoan what they lend: 400 KiB to each. nearSlots
// are the chunks on their way to a rank of another process, 1 MiB: sender and receiver then wait for each other less.
const (
	nearRanks = 8
	nearLoan  = 1600
	nearSlots = 32
)

const recordSlack = 256 // room in a record for headers and arguments

// network reports whether some messages of the job go over a network. All ranks of a job say the same.
func (o *options) network() bool { return o.spans || o.networkNamed() }

// networkNamed reports whether the setting names a network.
func (o *options) networkNamed() bool {
	name := settings.Conduit.Get(o.values)
	return name == udp.Name || name == ofi.Name
}

// flowControl is the mode of credits. Over rings a credit lent to one peer is of no use to another.
func flowControl(o *options) credit.Mode {
	switch settings.FlowControl.Get(o.values) {
	case "dynamic":
		return credit.Dynamic
	case "static":
		return credit.Fixed
	case "none":
		return credit.NoFlow
	}
	if o.network() {
		return credit.Dynamic
	}
	return credit.Fixed
}

// wideEager is the largest message in bytes that does not ask first, in jobs whose loans allow it. Over a network
// asking takes a round trip; through rings a message of this size is copied twice before two ranks agree on one copy.
const wideEager = 16 << 10

// longEager is the largest that may do so where ranks lend each other nearLoan at least. Through a ring a message of
// 32 KiB takes a third of the time that asking does, or somewhat more, by how far the cores are apart. Over UDP it is
// two thirds.
const longEager = 64 << 10

// fabricEager is wideEager over libfabric. Its record still is one piece for ofi_rxm, whose pieces have 16 KiB.
const fabricEager = 15 << 10

// eager is the largest message in bytes that is to travel without asking.
func eager(o *options) int {
	if n := settings.Eager.Get(o.values); n != 0 {
		return int(n)
	}
	if settings.Conduit.Get(o.values) == ofi.Name {
		return fabricEager
	}
	return wideEager
}

// longest is the largest that may travel so.
func longest(o *options, size int) int {
	n, loan := eager(o), cmp.Or(settings.Loan.Get(o.values), firstLoan(o, size))
	if n == wideEager && settings.Eager.Get(o.values) == 0 && loan >= nearLoan {
		return longEager
	}
	return n
}

// EagerLimit is the largest message in bytes that a rank always sends without asking its receiver first. It holds for a
// job of size ranks (at least 1) with that configuration and the environment. It is GOLCI_EAGER, or what the mode of
// flow control chooses. It is never more than one record and the loan of a peer hold, which shrink as jobs grow. It
// starts nothing and does not block. Error: ErrArgument.
func EagerLimit(size int, cfg Config) (int, error) {
	o, err := cfg.readSettings()
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
	return max(0, min(eager(o), am.PayloadOf(record(o, size), &t)))
}

// record is the longest record in bytes. Where loans follow demand every peer always has the credits of one.
func record(o *options, size int) int {
	e := longest(o, size)
	if settings.Eager.Get(o.values) == 0 && flowControl(o) == credit.Dynamic {
		e = min(e, max(chunk, firstLoan(o, size)*credit.Unit)-recordSlack)
	}
	return (e + recordSlack + 7) &^ 7
}

const chunk = 1024 // chooses the default table of credits, that for 1 KiB

// firstLoan is the loan of each peer at the start, unless a setting says otherwise, enough for usual traffic.
func firstLoan(o *options, size int) int {
	n := credit.Static(size)
	if flowControl(o) == credit.Dynamic {
		n, _ = credit.Defaults(size, chunk)
	}
	if !o.network() {
		if size <= nearRanks && flowControl(o) == credit.Fixed {
			n = nearLoan
		}
		return n
	}
	most := credit.MaxPerPeer
	if o.networkNamed() || size <= nearRanks {
		most = wideLoan
	}
	n = max(n, min(most, wideLoans/size))
	return min(n, cmp.Or(o.Tuning.MaxLoan, n))
}

// terms are the terms of credits, the same on all ranks because their settings are.
func terms(o *options, size int) credit.Config {
	mode, first := flowControl(o), cmp.Or(settings.Loan.Get(o.values), firstLoan(o, size))
	if mode != credit.Dynamic {
		return credit.Config{Mode: mode, PerPeer: first}
	}
	c := credit.Terms(size, chunk)
	c.Min = credit.Cost(record(o, size))
	c.PerPeer = max(first, c.Min)
	if n := o.Tuning.Bank; n != 0 {
		c.Bank = max(0, n)
	}
	if n := settings.AMRecvSpace.Get(o.values); n > 0 {
		c.Bank = max(0, int(n/credit.Unit)-c.PerPeer*(size-1))
	}
	most := mostLoan
	if o.network() {
		most = wideLoan
		pool := receivepool.ShapeFor(c.Total(size), record(o, size))
		c.Bank += pool.Credits - c.Total(size) // the pool is made of whole buffers
	}
	o.Tuning.tuneCredits(&c, most)
	return c
}

// conduitConfig sizes a conduit for the terms: a ring holds what its peer may ever be lent.
func conduitConfig(o *options, size int) conduit.Config {
	t := terms(o, size)
	cfg := conduit.Config{Loan: t.PerPeer, MaxRecord: record(o, size)}
	if t.Mode == credit.Dynamic && !o.network() {
		cfg.Loan = t.Max
	}
	if o.Sizes != nil {
		o.Sizes(&cfg)
	}
	return cfg
}

// networkConfig sizes a conduit that has one receive pool for all peers: a peer may send what it may ever be lent.
func networkConfig(o *options, size int) conduit.Config {
	cfg := conduitConfig(o, size)
	cfg.Loan = max(cfg.Loan, terms(o, size).Max)
	return cfg
}

// pooled adds to the configuration of a conduit what concerns its receive pool, and what a rank may have under way.
func (o *options) pooled(cfg udp.Config) udp.Config {
	t := terms(o, cfg.Size)
	cfg.Credits = t.Total(cfg.Size)
	cfg.Conduit = networkConfig(o, cfg.Size)
	u := &o.Tuning
	cfg.SafeLimit, cfg.AMLimit, cfg.SysLimit = cmp.Or(u.PollReplies, pollReplies), u.PollRequests, u.PollSystem
	cfg.Limits = tickets.Limits{Messages: u.Messages, Requests: u.RequestChunks, Replies: u.ReplyChunks}
	if t.Mode == credit.NoFlow && cfg.Limits == (tickets.Limits{}) {
		// What the loan of one peer would pay for, so that nothing overflows.
		cfg.Limits = tickets.Without
		cfg.Limits.Requests = max(1, t.PerPeer/credit.Cost(1<<10))
	}
	return cfg
}
