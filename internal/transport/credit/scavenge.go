package credit

import (
	"math/bits"
	"slices"
)

// Reason to pass over a peer in scavenging.
type Reason uint8

// Reasons, in the order in which they are looked for.
const (
	Self   Reason = iota // the list never holds this rank; looked for all the same
	Busy                 // SetBusy's function said so
	Flying               // a revoke has not been answered
	Least                // the loan is the least there is; the list never holds such a peer
	Zero                 // the peer had nothing to give in this epoch
	Asking               // the peer needed more itself of late
	reasons
	wanted = reasons
)

// String is a word for the reason.
func (r Reason) String() string {
	return [...]string{"self", "busy", "flying", "least", "zero", "asking", "wanted"}[min(r, wanted)]
}

const walkLimit = 64 // peers looked at in one go: a long list is walked bit by bit

// scavengePeers sends revokes to peers that perhaps do not need their loans, and reports whether it sent any. It is
// called when a need exceeds the bank by short. It continues where it stopped the last time.
func (g *Ledger) scavengePeers(short int) (sent bool) {
	g.expireRevokes()
	for range min(g.listed, walkLimit) {
		if len(g.flights) >= g.c.Scavenge {
			break
		}
		peer := g.nextListed(g.hand)
		l := &g.peers[peer]
		g.hand = peer + 1
		l.passEpochs(g.Epoch())
		if r := g.reasonFor(peer, l); r != wanted {
			g.stats.Skipped[r]++
			continue
		}
		g.revokeFrom(peer, l, short)
		sent = true
	}
	return sent
}

// reasonFor returns why scavenging passes over peer, whose Lender is l. It returns wanted if there is no reason:
// scavengePeers then sends peer a revoke.
func (g *Ledger) reasonFor(peer int, l *Lender) Reason {
	switch {
	case peer == g.self:
		return Self
	case g.busy != nil && g.busy(peer):
		return Busy
	case l.flags&inFlight != 0 && !g.isOverdue(l):
		return Flying
	case int(l.loan) <= g.c.Min:
		return Least
	case l.flags&zero != 0:
		return Zero
	case l.asked > 0:
		return Asking
	}
	return wanted
}

// isOverdue says that a revoke has gone unanswered for so long that the answer may be lost. That is 4 epochs, then 8,
// and so on up to 128. To repeat it does no harm, because it names a count, not a number of credits.
func (g *Ledger) isOverdue(l *Lender) bool { return g.Epoch()-l.since >= 4<<(l.flags/oneTry) }

func (g *Ledger) revokeFrom(peer int, l *Lender, short int) {
	want := min(int(l.loan)-g.c.Min, max(short, g.c.RevokeLimit))
	if l.flags&inFlight != 0 {
		l.flags += oneTry * min(1, mostTries-l.flags/oneTry)
		g.stats.Repeated++
	}
	l.flags |= inFlight
	l.since = g.Epoch()
	g.stats.Revokes++
	g.landRevoke(peer)
	g.flights = append(g.flights, flight{peer, g.requests()})
	g.out = append(g.out, Message{Peer: peer, Kind: Revoke, Args: Args{int32(g.gotCount(l) + uint16(want))}})
}

// expireRevokes stops counting revokes that peers have left lying, so that a few inattentive ones do not end all
// scavenging.
func (g *Ledger) expireRevokes() {
	now := g.requests()
	g.flights = slices.DeleteFunc(g.flights, func(f flight) bool { return now-f.at >= uint64(g.c.Patience) })
}

// requests is the number of requests received.
func (g *Ledger) requests() uint64 {
	if g.c.Mode != Dynamic {
		return uint64(endless - g.left)
	}
	return (g.stats.Epochs+1)*uint64(g.c.Epoch) - uint64(g.left)
}

// landRevoke stops counting a revoke to peer, if there is one.
func (g *Ledger) landRevoke(peer int) {
	g.flights = slices.DeleteFunc(g.flights, func(f flight) bool { return f.peer == peer })
}

// The scavenge list is the set of peers whose loan exceeds the least. It changes in the same step as the loan.

// enlistPeer adds peer to the list; delistPeer removes it.
func (g *Ledger) enlistPeer(peer int) {
	g.list[peer/64] |= 1 << (peer % 64)
	g.listed++
}

func (g *Ledger) delistPeer(peer int) {
	g.list[peer/64] &^= 1 << (peer % 64)
	g.listed--
}

func (g *Ledger) isListed(peer int) bool { return g.list[peer/64]>>(peer%64)&1 != 0 }

// nextListed is the first peer in the list from peer on, in a circle. The list must not be empty.
func (g *Ledger) nextListed(peer int) int {
	i := peer / 64 % len(g.list)
	for w := g.list[i] &^ (1<<(peer%64) - 1); ; w = g.list[i] {
		if w != 0 {
			return i*64 + bits.TrailingZeros64(w)
		}
		i = (i + 1) % len(g.list)
	}
}
