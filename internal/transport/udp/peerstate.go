package udp

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/invariants"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// peerState is the way to one peer, and what came from it.
type peerState struct {
	stage stage
	bulk  bulkStage

	// held is the cost of all records committed to the peer; written by the writer. Without limits it stays zero, as
	// served does.
	held atomic.Uint64
	// served is the cost of the peer's records that this rank has served, bulkTaken how many bytes of its bulk data;
	// every datagram to the peer tells of them. Written under poll.
	served    atomic.Uint64
	bulkTaken atomic.Uint32
	// bulkFreed is how many bytes of bulk data the peer has taken.
	bulkFreed atomic.Uint64
	// dirty tells that the peer is in Conduit.dirty.
	dirty atomic.Bool

	// Under engine.
	known          bool   // to the reliable core
	blocked        bool   // something is staged and must wait for the peer
	told           uint64 // the last served that left
	toldBulk       uint32
	repaid         uint64 // of held, what the peer has served
	sender         *seal.Sender
	mtu            int    // of a datagram
	paths          []Path // of the address table; not empty once the peer is known
	route          router
	size           sizer
	flushed        uint64 // Conduit.polls when a record was last staged
	followed       bool   // another record was staged since then, and kept back
	coalesceRounds uint8  // rounds in a row in which that was so
	slow           uint32 // Conduit.slow when the round began
	saidBye        bool   // to the peer; written under poll, too
	datagrams      uint64 // sent, for the turns of paths

	// Under poll.
	untaken [2]uint64 // bytes that have come and were not taken: of records with their entries, of bulk
	owes    bool      // in Conduit.owing
	arrived uint64    // of records, in bytes of entries, and of bulk
	byeAt   uint64    // what that will be in the end; with bye
	bye     bool
}

// peerState is the pair with a peer. It is made when something is first sent there or comes from there: a rank of a
// large job knows most of its peers by name only.
func (c *Conduit) peerState(peer int) *peerState {
	if ln := c.peers[peer].Load(); ln != nil {
		return ln
	}
	return c.newPeer(peer)
}

func (c *Conduit) newPeer(peer int) *peerState {
	ln := new(peerState)
	if c.peers[peer].CompareAndSwap(nil, ln) {
		return ln
	}
	return c.peers[peer].Load()
}

// Reserve implements conduit.Conduit.
func (c *Conduit) Reserve(peer int, class conduit.Class, n int) ([]byte, conduit.Status) {
	if c.unreachable(peer) || uint(n)-conduit.WordBytes > uint(c.g.maxRecord-conduit.WordBytes) || class > conduit.System {
		return nil, conduit.Dead
	}
	s := &c.peerState(peer).stage
	limit := c.g.limit
	if class == conduit.Request {
		limit = c.g.requests
	}
	c.giveBack(s)
	if c.window != nil {
		if price := tickets.Of(class, n); c.window.Take(class, price) {
			s.price = price
		} else {
			return nil, conduit.Retry
		}
	}
	b, ok := s.reserveRecord(n, limit, c.g.stage)
	if !ok {
		c.giveBack(s)
		return nil, conduit.Retry
	}
	s.class = class
	return b[:(n+7)&^7], conduit.OK
}

// giveBack gives up a reservation.
func (c *Conduit) giveBack(s *stage) {
	if s.n = 0; s.price != 0 {
		c.window.Give(s.price)
		s.price = 0
	}
}

// Commit implements conduit.Conduit.
func (c *Conduit) Commit(peer int, first uint64) {
	if uint(peer) >= uint(len(c.peers)) {
		return
	}
	ln := c.peerState(peer)
	s := &ln.stage
	n := int(uint32(first))
	if s.n == 0 || n < conduit.WordBytes || cost(n) > uint64(s.n) {
		return
	}
	i := s.write.placeAt(s.at) + entryHeader
	binary.LittleEndian.PutUint64(s.write.buf[i:], first)
	if s.price != 0 {
		// What the peer will say it has served is the cost of the record as it came, which may be shorter.
		now := tickets.Of(s.class, n)
		c.window.Give(s.price - now)
		ln.held.Store(ln.held.Load() + uint64(now))
		s.price = 0
	}
	invariants.Leave()
	s.commit(n)
	if peer == c.cfg.Rank {
		c.selfMail()
		return
	}
	c.pushStaged(peer)
}
