package udp

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/receivepool"
	"github.com/golci/golci/internal/transport/reliable"
	"github.com/golci/golci/internal/transport/tickets"
	"github.com/golci/golci/internal/transport/udp/deathnotice"
	"github.com/golci/golci/internal/transport/udp/seal"
)

// Conduit is one rank's end.
type Conduit struct {
	cfg          Config
	g            geometry
	window       *tickets.SendWindow     // nil: what is under way is what credits allow
	limits       [receivepool.Queues]int // of one Poll
	wire         Wire
	box          *seal.Box
	base         time.Time                   // of all times
	peers        []atomic.Pointer[peerState] // by peer; see peer
	chunks       sync.Pool                   // of *[]byte, a chunk long, for all peers
	addressTable *addressTable

	engine    mutex
	core      *reliable.Endpoint  // under engine
	out       outbox              // under engine
	loans     pieceCopies         // under engine
	departing []departingPeer     // under engine
	deaths    []int32             // under engine: peers of whose death others are to be told
	notices   deathnotice.Notices // under engine: who was told of which
	now       time.Duration       // under engine: of the last pass
	polled    time.Duration       // under engine: when a user polled last
	heldAt    time.Duration       // under engine: since when something is kept back for company; 0: nothing is
	slow      uint32              // under engine: how often that took longer than soon

	// dirty are peers with something staged; guarded by dirtyMu, except for the count.
	dirtyMu sync.Mutex
	dirty   []int32
	dirties atomic.Int32
	drained []int32       // under engine
	stuck   []int32       // under engine: peers towards which the core had no room
	sized   []int32       // under engine: peers whose datagrams could be smaller
	sizeAt  time.Duration // under engine: when these are looked at next

	poll   pollMutex
	recv   receiver      // under poll
	owing  []int32       // under poll: peers that have not been told what was taken
	owedAt time.Duration // under poll: when they must be told
	debts  atomic.Bool   // owing is not empty; written under poll
	self   atomic.Bool   // something is staged for this rank itself

	polls atomic.Uint64 // by users; written under poll
	due   atomic.Int64  // when the core wants its next turn; written under engine
	held  atomic.Bool   // something is kept back for company; written under engine

	fails      conduit.Failures
	zeroCopy   zeroCopySends
	sleep      sleep
	background background
}

// New makes the end of one rank and starts its keeper, which ends after Close. The error matches conduit.ErrConfig.
func New(cfg Config) (*Conduit, error) {
	c, err := assemble(cfg)
	if err != nil {
		return nil, err
	}
	c.background.startBackground(c)
	return c, nil
}

// assemble is New without background progress.
func assemble(cfg Config) (*Conduit, error) {
	g, err := newGeometry(cfg.Conduit)
	if err != nil {
		return nil, err
	}
	cfg.Linger = cmp.Or(cfg.Linger, defaultLinger)
	if err := cfg.checkConfig(); err != nil {
		return nil, err
	}
	c := &Conduit{
		cfg: cfg, g: g, wire: cfg.Wire, base: time.Now(), peers: make([]atomic.Pointer[peerState], cfg.Size),
	}
	c.chunks.New = func() any { b := make([]byte, g.chunk); return &b }
	c.notices = deathnotice.New(cfg.Rank, cfg.Size)
	if c.addressTable, err = newAddressTable(cfg.Peers); err != nil {
		return nil, err
	}
	c.fails.Init(cfg.Size)
	sc := seal.Config{Key: cfg.Key, Private: cfg.Private, Rank: cfg.Rank, Size: cfg.Size, Mode: cfg.Mode}
	sc.Incarnations, sc.Publics = make([]uint64, cfg.Size), make([][]byte, cfg.Size)
	for i, p := range cfg.Peers {
		sc.Incarnations[i], sc.Publics[i] = p.Life, p.Public
	}
	if c.box, err = seal.New(sc); err != nil {
		return nil, fmt.Errorf("%w: %w", conduit.ErrConfig, err)
	}
	c.cfg.Key, c.cfg.Private, c.cfg.Peers = nil, nil, nil // the box and the address table have them
	if err := c.initCore(); err != nil {
		return nil, err
	}
	c.out.initOutbox(c)
	c.recv.initReceiver(c) // before the loan is taken back where there are limits
	c.window, c.limits = c.cfg.window(&c.g), cfg.limits()
	c.watchNeighbours()
	return c, nil
}

func (c *Conduit) initCore() error {
	rc := reliable.Config{
		Sink: c, MaxMessage: max(c.g.maxRecord, 1<<20), KeepAlive: c.cfg.KeepAlive, DeadAfter: c.cfg.DeadAfter,
		MinRTO: c.cfg.MinRTO, AskEvery: c.cfg.AskEvery,
	}
	if c.g.tiny {
		rc.Queue, rc.Rooms = 2, 8
	}
	var err error
	if c.core, err = reliable.New(rc); err != nil {
		return fmt.Errorf("%w: %w", conduit.ErrConfig, err)
	}
	return nil
}

// watched is up to how many ranks all pairs of a job are kept alive from the start; in larger ones only those in use,
// and the neighbours'.
const watched = 64

func (c *Conduit) watchNeighbours() {
	for p := range c.peers {
		near := p == (c.cfg.Rank+1)%c.cfg.Size || (p+1)%c.cfg.Size == c.cfg.Rank
		if p != c.cfg.Rank && (c.cfg.Size <= watched || near) && c.know(p) {
			c.core.Watch(p, 0)
		}
	}
}

// know makes a peer known to the core; false if that cannot be. Under engine.
func (c *Conduit) know(peer int) bool {
	ln := c.peerState(peer)
	if ln.known {
		return true
	}
	if c.fails.Lost(peer) {
		return false
	}
	ln.paths = c.addressTable.paths(peer)
	c.measure(peer)
	if err := c.addPair(peer); err != nil {
		c.failPeer(peer, conduit.ErrUnreachable, err.Error())
		return false
	}
	ln.known = true
	ln.route = newRouter(len(ln.paths))
	c.followSize(peer)
	return true
}

// addPair makes the pair with a peer.
func (c *Conduit) addPair(peer int) error {
	ln := c.peerState(peer)
	sender, err := c.box.Sender(peer)
	if err != nil {
		return err
	}
	ln.sender = sender
	l := reliable.Link{Number: 1, MTU: c.coreMTU(ln.mtu), Ways: min(len(ln.paths), maxPaths)}
	if l.SendSeq, err = c.box.Sequence(c.cfg.Rank, peer); err != nil {
		return err
	}
	if l.RecvSeq, err = c.box.Sequence(peer, c.cfg.Rank); err != nil {
		return err
	}
	return c.core.Add(peer, l, c.now)
}

// coreMTU is what of a datagram is the core's.
func (c *Conduit) coreMTU(datagram int) int {
	return min(datagram-c.box.Overhead()-headerSize, reliable.MaxMTU)
}

// Rank implements conduit.Conduit.
func (c *Conduit) Rank() int { return c.cfg.Rank }

// Size implements conduit.Conduit.
func (c *Conduit) Size() int { return c.cfg.Size }

// Caps implements conduit.Conduit.
func (c *Conduit) Caps() conduit.Caps { return c.g.caps() }

// Mine implements conduit.Conduit: there are no such words.
func (c *Conduit) Mine(int) *atomic.Uint64 { return nil }

// Theirs implements conduit.Conduit: there are no such words.
func (c *Conduit) Theirs(int) *atomic.Uint64 { return nil }

func (c *Conduit) unreachable(peer int) bool {
	return uint(peer) >= uint(len(c.peers)) || c.fails.Has(peer)
}

// Failed implements conduit.Conduit.
func (c *Conduit) Failed(peer int) error { return c.fails.Failed(peer) }

// Foretell implements conduit.Foreteller.
func (c *Conduit) Foretell(tell func(peer int, reason error)) { c.fails.Foretell(tell) }

// failPeer makes a peer unreachable; the first reason stays. What came from it before is delivered all the same.
func (c *Conduit) failPeer(peer int, reason error, detail string) {
	c.fails.Add(peer, reason, detail)
	if c.peers[peer].Load() != nil {
		c.mark(peer) // what its records hold comes back
	}
	c.ring()
}

// allDelivered tells whether all that came from peer, which has failed, was delivered; nothing more of it is taken in.
// Under poll.
func (c *Conduit) allDelivered(peer int) bool {
	ln := c.peers[peer].Load()
	return ln == nil || ln.untaken == [2]uint64{}
}

func (c *Conduit) isClosed() bool { return c.fails.News() == conduit.OwnEnd }

// giveUp is failPeer for a peer that still talks: the core forgets it, and what was on its way to it ends. Under
// engine.
func (c *Conduit) giveUp(peer int, reason error, detail string) {
	if !c.fails.Lost(peer) {
		c.failPeer(peer, reason, detail)
		c.departing = append(c.departing, departingPeer{peer, c.now, reason})
	}
}

// Dead implements reliable.Sink: a peer was silent too long, or has been forgotten.
func (c *Conduit) Dead(peer int, err error) {
	switch {
	case errors.Is(err, conduit.ErrPeerClosed), errors.Is(err, conduit.ErrClosed): // whose reason is known
	case errors.Is(err, reliable.ErrSilent):
		c.failPeer(peer, conduit.ErrPeerDied, err.Error()+c.strangers())
	case errors.Is(err, reliable.ErrRefused):
		c.failPeer(peer, conduit.ErrPeerDied, err.Error())
		c.deaths = append(c.deaths, int32(peer))
	case errors.Is(err, reliable.ErrStuck):
		why := fmt.Sprintf("datagrams of %d bytes at most: %v", c.peerState(peer).mtu, err)
		c.failPeer(peer, conduit.ErrUnreachable, why)
	default:
		c.failPeer(peer, conduit.ErrCorrupt, err.Error())
	}
	ln := c.peerState(peer)
	ln.known = false
}

func (c *Conduit) clock() time.Duration { return time.Since(c.base) }
