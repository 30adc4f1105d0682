//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/fi"
)

// mostFlying is how many operations on memory of peers a rank may have under way.
const mostFlying = 256

var errNoMemory = errors.New("the system has no memory for buffers")

// memory is what this rank has exposed. A piece that several peers reach is registered once. Under mu.
type memory struct {
	keys    uint64 // the last key asked for, where the provider does not choose
	regions map[piece]*exposed
	leases  map[lease]*exposed
}

type piece struct {
	at uintptr
	n  int
}

type lease struct {
	peer int
	key  conduit.Key
}

// exposed is memory that peers reach under key.
type exposed struct {
	mem    []byte
	region fi.Region
	key    conduit.Key
	empty  bool        // not registered
	peers  map[int]int // how often it has been exposed to each
}

func (m *memory) nextKey() uint64 {
	m.keys++
	return m.keys
}

// Reach implements conduit.Remote. Released memory may still be written by an operation under way.
func (c *Conduit) Reach(p int) conduit.Reach {
	if uint(p) >= uint(c.cfg.Size) || p == c.cfg.Rank {
		return conduit.Reach{}
	}
	return conduit.Reach{Get: true, Put: true}
}

// Allocate implements conduit.Remote.
func (c *Conduit) Allocate(size int64) ([]byte, error) { return conduit.Allocate(size) }

// Map implements conduit.Remote: a network maps nothing.
func (c *Conduit) Map(p int, _ conduit.Key) ([]byte, *atomic.Bool, error) {
	return nil, nil, &conduit.PeerError{Peer: p, Err: conduit.ErrUnreachable, Detail: "mapped memory"}
}

// Expose implements conduit.Remote. The first time it calls the system, which may pin the pages.
func (c *Conduit) Expose(to int, mem []byte) (conduit.Key, conduit.Status) {
	p := c.reachablePeer(to)
	if p == nil || to == c.cfg.Rank {
		return conduit.Key{}, conduit.Dead
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed.Load() {
		return conduit.Key{}, conduit.Dead
	}
	x, st := c.registerMemory(mem)
	if st != conduit.OK {
		return conduit.Key{}, st
	}
	c.noteUse(p) // it hears of the end
	x.peers[to]++
	c.memory.leases[lease{to, x.key}] = x
	return x.key, conduit.OK
}

// registerMemory makes memory known to the library, unless it is already.
func (c *Conduit) registerMemory(mem []byte) (*exposed, conduit.Status) {
	m := &c.memory
	if m.regions == nil {
		m.regions, m.leases = map[piece]*exposed{}, map[lease]*exposed{}
	}
	at := piece{addressOf(mem), len(mem)}
	if x := m.regions[at]; x != nil {
		return x, conduit.OK
	}
	x := &exposed{mem: mem, peers: map[int]int{}, empty: len(mem) == 0}
	if x.empty {
		x.key = conduit.Key{ID: m.nextKey() << 1}
		m.regions[at] = x
		return x, conduit.OK
	}
	var err error
	if x.region, err = c.ep.Register(at.at, at.n, m.nextKey(), true); err != nil {
		return nil, conduit.Retry
	}
	base := uint64(0)
	if c.info.VirtAddr {
		base = uint64(at.at)
	}
	var ok bool
	if x.key, ok = keyOf(x.region.Key, base, int64(at.n)); !ok {
		_ = c.ep.Forget(x.region) // there is no way to tell, and the layers above do without
		return nil, conduit.Dead
	}
	m.regions[at] = x
	return x, conduit.OK
}

// Release implements conduit.Remote.
func (c *Conduit) Release(from int, k conduit.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := lease{from, k}
	x := c.memory.leases[l]
	if x == nil {
		if c.closed.Load() {
			return nil
		}
		return &conduit.PeerError{Peer: from, Err: conduit.ErrKey}
	}
	if x.peers[from]--; x.peers[from] == 0 {
		delete(x.peers, from)
		delete(c.memory.leases, l)
	}
	if len(x.peers) == 0 {
		return c.forgetExposed(x)
	}
	return nil
}

// forgetExposed takes exposed memory back from the library.
func (c *Conduit) forgetExposed(x *exposed) error {
	delete(c.memory.regions, piece{addressOf(x.mem), len(x.mem)})
	if x.empty || c.down {
		return nil
	}
	return c.ep.Forget(x.region)
}

// Get implements conduit.Remote.
func (c *Conduit) Get(from int, dst []byte, k conduit.Key, off int64, done conduit.Completion) int {
	return c.startAccess(getting, from, dst, k, off, done)
}

// Put implements conduit.Remote.
func (c *Conduit) Put(to int, src []byte, k conduit.Key, off int64, done conduit.Completion) int {
	return c.startAccess(putting, to, src, k, off, done)
}

func (c *Conduit) startAccess(u use, at int, local []byte, k conduit.Key, off int64, done conduit.Completion) int {
	p := c.reachablePeer(at)
	if p == nil || at == c.cfg.Rank {
		return -1
	}
	n := min(len(local), c.info.MaxMessage)
	if n == 0 {
		return 0
	}
	c.mu.Lock()
	n = c.startOp(p, u, local[:n:n], k, off, done)
	c.mu.Unlock()
	c.alertSleeper(c.hasWaiting())
	if c.sleep.asleep.Load() {
		c.Wake() // whoever sleeps here has to continue it
	}
	return n
}

// startOp begins an operation. Under mu, as all that follows.
func (c *Conduit) startOp(p *peer, u use, local []byte, k conduit.Key, off int64, done conduit.Completion) int {
	if c.closed.Load() {
		return -1
	}
	if len(c.flying)+len(c.ended) >= mostFlying {
		return 0
	}
	rkey, base, ok := openKey(k)
	if !ok || !k.Holds(off, len(local)) {
		c.queueEnd(completion{done, len(local), &conduit.PeerError{Peer: p.rank, Err: conduit.ErrKey}})
		return len(local)
	}
	s := c.slab.takeSlot(0)
	if s == nil {
		return 0
	}
	o := &operation{local: local, rkey: rkey, raddr: base + uint64(off), done: done}
	if c.info.Local {
		r, err := c.ep.Register(addressOf(local), len(local), c.memory.nextKey(), false)
		if err != nil {
			c.slab.giveSlot(s)
			return 0
		}
		o.region = &r
	}
	s.use, s.peer, s.op, o.index = u, p.rank, o, len(c.flying)
	c.flying = append(c.flying, s)
	c.pushSlot(p, s)
	return len(local)
}

// endSlot ends an operation with which the library is done.
func (c *Conduit) endSlot(s *slot, err error) {
	o := s.op
	last := len(c.flying) - 1
	c.flying[o.index] = c.flying[last]
	c.flying[o.index].op.index = o.index
	c.flying[last] = nil
	c.flying = c.flying[:last]
	if o.region != nil && !c.down {
		_ = c.ep.Forget(*o.region) // the operation is over in any case
	}
	c.slab.giveSlot(s)
	if o.done != nil {
		c.queueEnd(completion{o.done, len(o.local), err})
	}
}

// patience is how long after the failure of a peer the library may take to end an operation on its memory.
const patience = 2 * time.Second

// overdueOps gives up operations on memory of failed peers that the library does not end. It tells whether there are
// some to look after. Nothing comes of such a peer any more; the slot stays out of use.
func (c *Conduit) overdueOps() (some bool) {
	for i := len(c.flying) - 1; i >= 0; i-- {
		s := c.flying[i]
		if s.op.since.IsZero() {
			continue
		}
		some = true
		if time.Since(s.op.since) > patience && s.op.done != nil {
			c.queueEnd(completion{s.op.done, len(s.op.local), c.reasonFor(s.peer)})
			s.op.done = nil
		}
	}
	return some
}

// queueEnd has Poll tell of the end of an operation.
func (c *Conduit) queueEnd(x completion) {
	c.ended = append(c.ended, x)
	c.ready.Add(1)
}

func (o *operation) desc() uintptr {
	if o.region == nil {
		return 0
	}
	return o.region.Desc
}

// forgetMemory takes all exposed memory back, at the end.
func (c *Conduit) forgetMemory() error {
	var errs []error
	for _, x := range c.memory.regions {
		if !x.empty {
			errs = append(errs, c.ep.Forget(x.region))
		}
	}
	c.memory.regions, c.memory.leases = nil, nil
	return errors.Join(errs...)
}
