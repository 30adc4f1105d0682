package credit

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/invariants"
)

// Ledger is a rank's book of its loans to its peers and of its bank. The poller owns all of it but Epoch. Nothing in it
// blocks. Messages returns what must be sent to peers.
type Ledger struct {
	// Hot: touched for every request.
	left  int // requests until the epoch ends
	peers []Lender

	c       Config
	self    int
	bank    int
	list    []uint64 // the scavenge list: a bit for each peer
	listed  int      // peers in it
	hand    int      // where it is entered next
	flights []flight // revokes on their way that count
	busy    func(peer int) bool
	out     []Message
	stats   Stats

	epoch atomic.Uint32 // written by the poller, read by senders, who need no more of it than that it changes
}

// flight is a revoke on its way.
type flight struct {
	peer int
	at   uint64 // requests received by then
}

// endless is an epoch that does not end, where loans do not follow demand.
const endless = int(^uint(0) >> 1)

// Stats counts what a ledger has done since it was made.
type Stats struct {
	Requests uint64 // received, of all peers
	Epochs   uint64
	Needs    uint64 // requests, or Asks, that wanted more credits
	Granted  uint64 // credits
	Limited  uint64 // needs refused by a limit
	Denied   uint64 // needs refused by the bank
	Revokes  uint64 // messages, with repetitions
	Repeated uint64 // of these, sent again for want of an answer
	Returned uint64 // credits
	Zeroes   uint64 // answers with nothing
	Skipped  [reasons]uint64
}

// NewLedger opens the book of rank self in a job of the given number of ranks.
func NewLedger(c Config, self, ranks int) (*Ledger, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if ranks < 1 || uint(self) >= uint(ranks) {
		return nil, fmt.Errorf("%w: rank %d of %d", errConfig, self, ranks)
	}
	g := &Ledger{c: c, self: self, bank: c.Bank, left: endless}
	g.peers, g.list = make([]Lender, ranks), make([]uint64, (ranks+63)/64)
	for i := range g.peers {
		g.peers[i].loan = uint16(c.PerPeer)
	}
	if c.Mode == Dynamic {
		g.left = c.Epoch
		for i := range g.peers {
			if i != self && c.PerPeer > c.Min {
				g.enlistPeer(i)
			}
		}
	}
	return g, nil
}

// SetBusy has f asked before a peer is revoked from: true leaves the peer out for this time, because its pair cannot be
// touched now.
func (g *Ledger) SetBusy(f func(peer int) bool) { g.busy = f }

// Freed notes that a request of peer has been received and that the space of its n credits is free. It reports whether
// a note to peer is due. It counts the epoch.
func (g *Ledger) Freed(peer, n int) (due bool) {
	if g.left--; g.left == 0 {
		g.endEpoch()
	}
	return g.peers[peer].noteFreed(n)
}

func (g *Ledger) endEpoch() {
	g.left = g.c.Epoch
	g.stats.Epochs++
	g.epoch.Store(g.epoch.Load() + 1)
}

// Epoch is the number of this rank's epoch, which wraps. Senders give its low bits to Borrower.Wire and Stamp. Any
// goroutine may call it.
func (g *Ledger) Epoch() uint8 { return uint8(g.epoch.Load()) }

// Note is the report to send to peer now; its credits count as told.
func (g *Ledger) Note(peer int) Note {
	l := &g.peers[peer]
	return Note{Returned: l.tellFreed(), Granted: l.granted, Epoch: uint16(g.epoch.Load()) & epochMask}
}

// Owed is the number of credits that peer is owed.
func (g *Ledger) Owed(peer int) int { return g.peers[peer].owedBytes() }

// Messages returns the system messages to send since the last call; the next call of a method makes it invalid.
func (g *Ledger) Messages() []Message {
	out := g.out
	g.out = g.out[:0]
	return out
}

// Need notes that peer was short of need credits, and returns by how much its loan has grown. If it has grown, a Note
// must go to peer at once. Otherwise Messages may have revokes to send.
func (g *Ledger) Need(peer, need int) (granted int) {
	l := &g.peers[peer]
	if g.c.Mode != Dynamic || need <= 0 || peer == g.self || l.flags&gone != 0 {
		return 0
	}
	g.stats.Needs++
	l.passEpochs(g.Epoch())
	l.asked = uint8(min(255, int(l.asked)+1))
	n := min(need, g.c.Max-int(l.loan), g.growthLeft(l))
	if n <= 0 {
		g.stats.Limited++
		return 0
	}
	if n > g.bank {
		if g.scavengePeers(n-g.bank) || len(g.flights) > 0 || g.bank == 0 {
			g.stats.Denied++
			return 0
		}
		n = g.bank // nothing more is to be had
	}
	g.grantMore(peer, l, n)
	return n
}

// growthLeft is by how much a loan may still grow in this epoch.
func (g *Ledger) growthLeft(l *Lender) int {
	limit := g.c.LenderLimit
	if g.c.Share > 0 {
		limit = max(limit, g.bank/g.c.Share)
	}
	return limit - int(l.given)
}

func (g *Ledger) grantMore(peer int, l *Lender, n int) {
	g.bank -= n
	l.loan += uint16(n)
	l.granted += uint16(n)
	l.given += uint16(n)
	g.stats.Granted += uint64(n)
	if !g.isListed(peer) {
		g.enlistPeer(peer)
	}
}

// Asked serves an Ask of peer. It treats the missing credits of the loan as Need does, all at once or none.
func (g *Ledger) Asked(peer int, a Args) (granted int) {
	return g.Need(peer, int(a[0])-int(g.peers[peer].loan))
}

// Returned takes in a Return of peer. To give back more than was lent beyond the least loan is a fault of the peer, and
// changes nothing.
func (g *Ledger) Returned(peer int, a Args) error {
	l := &g.peers[peer]
	n := int(int16(uint16(a[0]) - g.gotCount(l)))
	if g.c.Mode != Dynamic || uint32(a[0]) > 1<<16-1 || n > int(l.loan)-g.c.Min {
		return fmt.Errorf("%w: it gave back %d of a loan of %d credits", ErrProtocol, n, l.loan)
	}
	answered := l.flags&inFlight != 0
	if n <= 0 && !answered { // the answer to a repetition
		return nil
	}
	g.landRevoke(peer)
	l.flags &= gone // no revoke on its way, none repeated
	if n <= 0 {
		l.passEpochs(g.Epoch())
		l.flags |= zero
		g.stats.Zeroes++
		return nil
	}
	l.loan -= uint16(n)
	g.stats.Returned += uint64(n)
	g.bank += n
	if int(l.loan) == g.c.Min && g.isListed(peer) {
		g.delistPeer(peer)
	}
	return nil
}

// gotCount is the cumulative count of credits that the peer has given back.
func (g *Ledger) gotCount(l *Lender) uint16 { return uint16(g.c.PerPeer) + l.granted - l.loan }

// Forget notes that peer is dead. Its loan is lost: records of its may lie in the space.
func (g *Ledger) Forget(peer int) {
	l := &g.peers[peer]
	if peer == g.self || l.flags&gone != 0 {
		return
	}
	g.landRevoke(peer)
	if g.isListed(peer) {
		g.delistPeer(peer)
	}
	l.flags = gone
	if invariants.Enabled {
		invariants.Check(g.Check() == nil, "after the death of rank %d: %v", peer, g.Check())
	}
}
