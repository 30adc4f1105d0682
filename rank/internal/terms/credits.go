package terms

import (
	"cmp"

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
// records take. NearRanks is how many such ranks there may be, and nearLoan what they lend: 400 KiB to each.
const (
	NearRanks = 8
	nearLoan  = 1600
)

const recordSlack = 256 // room in a record for headers and arguments

// network reports whether some messages of the job go over a network. All ranks of a job say the same.
func (o *Options) network() bool { return o.Spans || o.networkNamed() }

// networkNamed reports whether the setting names a network.
func (o *Options) networkNamed() bool {
	name := settings.Conduit.Get(o.Values)
	return name == udp.Name || name == ofi.Name
}

// flowControl is the mode of credits. Over rings a credit lent to one peer is of no use to another.
func (o *Options) flowControl() credit.Mode {
	switch settings.FlowControl.Get(o.Values) {
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
func (o *Options) eager() int {
	if n := settings.Eager.Get(o.Values); n != 0 {
		return int(n)
	}
	if settings.Conduit.Get(o.Values) == ofi.Name {
		return fabricEager
	}
	return wideEager
}

// Longest is the largest that may travel so.
func (o *Options) Longest(size int) int {
	n, loan := o.eager(), cmp.Or(settings.Loan.Get(o.Values), o.firstLoan(size))
	if n == wideEager && settings.Eager.Get(o.Values) == 0 && loan >= nearLoan {
		return longEager
	}
	return n
}

// EagerLimit is the largest message in bytes that a rank of a job of size ranks always sends without asking its
// receiver first. It is never more than one record and the loan of a peer hold, which shrink as jobs grow.
func (o *Options) EagerLimit(size int) int {
	t := o.Credits(size)
	return max(0, min(o.eager(), am.PayloadOf(o.Record(size), &t)))
}

// Record is the longest record in bytes. Where loans follow demand every peer always has the credits of one.
func (o *Options) Record(size int) int {
	e := o.Longest(size)
	if settings.Eager.Get(o.Values) == 0 && o.flowControl() == credit.Dynamic {
		e = min(e, max(chunk, o.firstLoan(size)*credit.Unit)-recordSlack)
	}
	return (e + recordSlack + 7) &^ 7
}

const chunk = 1024 // chooses the default table of credits, that for 1 KiB

// firstLoan is the loan of each peer at the start, unless a setting says otherwise, enough for usual traffic.
func (o *Options) firstLoan(size int) int {
	n := credit.Static(size)
	if o.flowControl() == credit.Dynamic {
		n, _ = credit.Defaults(size, chunk)
	}
	if !o.network() {
		if size <= NearRanks && o.flowControl() == credit.Fixed {
			n = nearLoan
		}
		return n
	}
	most := credit.MaxPerPeer
	if o.networkNamed() || size <= NearRanks {
		most = wideLoan
	}
	n = max(n, min(most, wideLoans/size))
	return min(n, cmp.Or(o.Tuning.MaxLoan, n))
}

// Credits are the terms of credits, the same on all ranks because their settings are.
func (o *Options) Credits(size int) credit.Config {
	mode, first := o.flowControl(), cmp.Or(settings.Loan.Get(o.Values), o.firstLoan(size))
	if mode != credit.Dynamic {
		return credit.Config{Mode: mode, PerPeer: first}
	}
	c := credit.Terms(size, chunk)
	c.Min = credit.Cost(o.Record(size))
	c.PerPeer = max(first, c.Min)
	if n := o.Tuning.Bank; n != 0 {
		c.Bank = max(0, n)
	}
	if n := settings.AMRecvSpace.Get(o.Values); n > 0 {
		c.Bank = max(0, int(n/credit.Unit)-c.PerPeer*(size-1))
	}
	most := mostLoan
	if o.network() {
		most = wideLoan
		pool := receivepool.ShapeFor(c.Total(size), o.Record(size))
		c.Bank += pool.Credits - c.Total(size) // the pool is made of whole buffers
	}
	o.Tuning.tuneCredits(&c, most)
	return c
}

// ConduitConfig sizes a conduit for the terms: a ring holds what its peer may ever be lent.
func (o *Options) ConduitConfig(size int) conduit.Config {
	t := o.Credits(size)
	cfg := conduit.Config{Loan: t.PerPeer, MaxRecord: o.Record(size)}
	if t.Mode == credit.Dynamic && !o.network() {
		cfg.Loan = t.Max
	}
	if o.Sizes != nil {
		o.Sizes(&cfg)
	}
	return cfg
}

// NetworkConfig sizes a conduit that has one receive pool for all peers: a peer may send what it may ever be lent.
func (o *Options) NetworkConfig(size int) conduit.Config {
	cfg := o.ConduitConfig(size)
	cfg.Loan = max(cfg.Loan, o.Credits(size).Max)
	return cfg
}

// Pooled adds to the configuration of a conduit what concerns its receive pool, and what a rank may have under way.
func (o *Options) Pooled(cfg udp.Config) udp.Config {
	t := o.Credits(cfg.Size)
	cfg.Credits = t.Total(cfg.Size)
	cfg.Conduit = o.NetworkConfig(cfg.Size)
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
