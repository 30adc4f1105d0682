//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/fi"
)

// Listener is a rank's endpoint before it knows its peers.
type Listener struct {
	// Info tells which way to the network was taken.
	Info fi.Info
	// Name is the endpoint's address, for the peers.
	Name []byte
	// Address is Name for people.
	Address string

	ep  *fi.Endpoint
	own *sharedEndpoint // nil where endpoints of one process are strangers
	geo geometry
	cfg Config
}

// completions is how many may wait in the queue of the library.
const completions = 4096

// Listen opens an endpoint that can do what want tells, for a rank of the job that c describes. It may take hundreds of
// milliseconds and calls the system. Errors: conduit.ErrConfig, dl.ErrMissing without the library, fi.ErrNone if no
// provider does what is wanted, and those of the library.
func Listen(want fi.Want, c Config) (*Listener, error) {
	g, err := newGeometry(c.Conduit)
	if err != nil {
		return nil, err
	}
	if uint(c.Rank) >= uint(c.Size) {
		return nil, fmt.Errorf("%w: rank %d of %d", conduit.ErrConfig, c.Rank, c.Size)
	}
	c.Connect = cmp.Or(c.Connect, defaultConnect)
	c.Silence = cmp.Or(c.Silence, defaultSilence)
	c.DeadAfter = cmp.Or(c.DeadAfter, defaultDeadAfter)
	c.Linger = cmp.Or(c.Linger, defaultLinger)
	lib, err := fi.Load()
	if err != nil {
		return nil, err
	}
	i, err := lib.Find(want)
	if err != nil {
		return nil, err
	}
	l := &Listener{geo: g, cfg: c}
	if !l.geo.fit(i.Safe) {
		err := fmt.Errorf("%w: %s, domain %s, sends messages of %d bytes at most, and records need %d", conduit.ErrConfig,
			i.Provider, i.Domain, i.Safe, l.geo.longest())
		i.Free()
		return nil, err
	}
	if l.ep, err = i.Open(completions, c.Size, l.geo.longest()); err != nil {
		return nil, err
	}
	l.Info = *l.ep.Info
	if l.Name, err = l.ep.Name(); err != nil {
		return nil, errors.Join(err, l.ep.Close())
	}
	l.Address = l.ep.Address(l.Name)
	if sharesMemory(&l.Info) {
		l.own = join(l.Name, l.ep)
	}
	return l, nil
}

// Close ends a listener that does not connect.
func (l *Listener) Close() error {
	if l.own != nil {
		return leave([]*sharedEndpoint{l.own})
	}
	return l.ep.Close()
}

// Conduit is one rank's end.
type Conduit struct {
	cfg  Config
	geo  geometry
	info fi.Info

	fails        conduit.Failures
	closed       atomic.Bool
	reportedDead suspects
	// ready counts what Poll would deliver: entries that have come, and operations that are over.
	ready atomic.Int64
	polls atomic.Uint64 // a count of passes, from which background progress sees that somebody is at it

	polling sync.Mutex // guards batch; held by the poller, and by Close, which waits for it
	batch   [batch]delivery

	sleep      sleepState
	background background

	mu             sync.Mutex // guards the rest
	ep             *fi.Endpoint
	sharedEndpoint []*sharedEndpoint // endpoints of this process that must outlive each other, this one included
	down           bool              // ep has been closed
	lostSome       bool              // a peer has failed
	peers          []peer
	names          [][]byte // addresses of the peers
	slab           slab
	pool           pool
	turns          ring         // peers of which something waits to be delivered
	busy           []*peer      // peers for which something waits to be sent
	connecting     []*peer      // peers that have not taken a first message yet
	suspects       []*peer      // peers of which a sign of life is wanted
	used           []*peer      // known peers that have not failed
	ticks          uint32       // of background progress
	flying         []*slot      // operations on memory of peers, sent or waiting
	sends          int          // messages in the library
	ended          []completion // to be told in Poll
	entries        *entry       // not in use
	memory         memory
}

// peer is what a rank knows of another. Under mu, but for waiting.
type peer struct {
	rank int
	addr uint64 // its number in the library
	// known means that the two have exchanged something, connected that it has taken a message.
	known, connected bool
	since            time.Time     // of the first message; while connecting
	asked            time.Time     // for a sign of life; while suspected
	patience         time.Duration // how long it may take to give one
	suspected        bool          // only an answer counts as one: the system or another rank says that it is dead
	heard            uint32        // Conduit.ticks when something came last

	sent, seen      uint32 // the cost of requests, replies and system records: sent, and told to have been taken
	taken, told     uint32 // the same of what it has sent
	chunks, gone    uint16 // chunks sent, and told to have been taken
	got, gotTold    uint16 // the same of what it has sent
	count, received uint64 // records and chunks sent, and come
	all             uint64 // it has sent so many, if bye
	bye             bool   // it has closed
	byeSent         bool
	acked           bool // it has all that was sent

	reserved, chunk *slot // not committed
	room            int   // bytes of chunk
	out             queue // waits to be sent
	in              inbox
	busy, turn      bool
	waiting         atomic.Int32 // entries in, that have not been delivered yet
}

// Connect makes the conduit of the listener's rank. all has the Name of each rank. The listener belongs to the conduit
// then, also if it fails. It sends nothing yet: a first message connects.
func (l *Listener) Connect(all [][]byte) (*Conduit, error) {
	c := &Conduit{cfg: l.cfg, geo: l.geo, info: l.Info, ep: l.ep, names: all, peers: make([]peer, l.cfg.Size)}
	if err := c.openFabric(); err != nil {
		return nil, errors.Join(err, c.slab.forgetMemory(c.ep), l.Close())
	}
	if l.own != nil {
		l.own.arenas = c.slab.arenas
		c.sharedEndpoint = l.own.uses(all)
	}
	runtime.AddCleanup(c, (*arenas).unmapAll, c.slab.arenas)
	runtime.AddCleanup(c, (*bells).closeBells, c.sleep.bells)
	go c.keepRunning()
	return c, nil
}

func (c *Conduit) openFabric() error {
	c.fails.Init(c.cfg.Size)
	c.slab = slab{arenas: &arenas{}, register: c.registerLocal}
	if len(c.names) != c.cfg.Size {
		return fmt.Errorf("%w: %d addresses for %d ranks", conduit.ErrConfig, len(c.names), c.cfg.Size)
	}
	for i := range c.peers {
		p := &c.peers[i]
		p.rank = i
		if i == c.cfg.Rank {
			continue
		}
		var err error
		if p.addr, err = c.ep.Insert(c.names[i]); err != nil {
			return fmt.Errorf("rank %d: %w", i, err)
		}
	}
	if err := c.pool.openPool(c); err != nil {
		return err
	}
	return c.sleep.openNap(c.ep.WaitFD)
}

// registerLocal makes bounce memory known, where the provider wants that.
func (c *Conduit) registerLocal(mem []byte) (fi.Region, error) {
	if !c.info.Local {
		return fi.Region{}, nil
	}
	return c.ep.Register(addressOf(mem), len(mem), c.memory.nextKey(), false)
}

// Info tells which way to the network the conduit takes.
func (c *Conduit) Info() fi.Info { return c.info }

// Rank implements conduit.Conduit.
func (c *Conduit) Rank() int { return c.cfg.Rank }

// Size implements conduit.Conduit.
func (c *Conduit) Size() int { return c.cfg.Size }

// Caps implements conduit.Conduit.
func (c *Conduit) Caps() conduit.Caps { return c.geo.caps() }

// Mine implements conduit.Conduit: there are no words.
func (c *Conduit) Mine(int) *atomic.Uint64 { return nil }

// Theirs implements conduit.Conduit: there are no words.
func (c *Conduit) Theirs(int) *atomic.Uint64 { return nil }

// Failed implements conduit.Conduit.
func (c *Conduit) Failed(p int) error { return c.fails.Failed(p) }

// Foretell implements conduit.Foreteller.
func (c *Conduit) Foretell(tell func(peer int, reason error)) { c.fails.Foretell(tell) }

// bells are the descriptors that wake the sleeper and background progress. They are closed when the conduit is garbage,
// so that a late Wake writes to no other file.
type bells struct{ sleeper, background int }

func (b *bells) closeBells() {
	_ = unix.Close(b.sleeper)
	_ = unix.Close(b.background)
}
