// Package fabrictest is a network whose cards reach registered memory, for tests of what works over conduit.Remote.
package fabrictest

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/transport/local"
)

// Reaches are what networks of that kind can do, by name.
var Reaches = map[string]conduit.Reach{
	"get":      {Get: true, Firm: true},
	"put":      {Put: true, Firm: true},
	"both":     {Get: true, Put: true, Firm: true},
	"near":     {Get: true, Put: true, Firm: true, Near: true},
	"near get": {Get: true, Near: true, Firm: true},
}

// fabric is a network whose cards reach registered memory: by number only, a few operations at a time, of bounded
// length. They are complete in any order and some polls later. Records go through a local conduit.
type fabric struct {
	can   conduit.Reach
	mu    sync.Mutex // guards the rest
	next  uint64
	mems  map[uint64]registered
	order *rand.Rand
}

// registered is memory of a rank that one peer reaches.
type registered struct {
	rank, peer int
	mem        []byte
}

const (
	mostOps   = 3        // of a rank under way
	mostKeys  = 20       // of a rank
	longestOp = 70 << 10 // bytes of an operation at most
)

// Card is a rank's end.
type Card struct {
	conduit.Conduit
	f       *fabric
	busy    atomic.Int32 // len(flying)
	closed  atomic.Bool
	mu      sync.Mutex // guards the rest
	flying  []flight
	refused int
}

// flight is an operation under way.
type flight struct {
	peer  int
	get   bool
	local []byte
	k     conduit.Key
	off   int64
	done  conduit.Completion
}

// New returns the conduits of n ranks of a network that can do what can tells.
func New(t testing.TB, can conduit.Reach, n int, cfg conduit.Config) []conduit.Conduit {
	t.Helper()
	cs, err := local.New(n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed of the fabric %d", seed)
	f := &fabric{can: can, mems: map[uint64]registered{}, order: rand.New(rand.NewPCG(seed, 0))}
	for i, c := range cs {
		cs[i] = &Card{Conduit: c, f: f}
	}
	return cs
}

func (c *Card) Reach(peer int) conduit.Reach {
	if uint(peer) >= uint(c.Size()) || peer == c.Rank() {
		return conduit.Reach{}
	}
	return c.f.can
}

func (c *Card) Allocate(size int64) ([]byte, error) { return conduit.Allocate(size) }

// Map implements conduit.Remote: a card maps nothing.
func (c *Card) Map(peer int, _ conduit.Key) ([]byte, *atomic.Bool, error) {
	return nil, nil, &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: "mapped memory"}
}

// Keys is the number of keys that the ranks of the network have given and not released.
func (c *Card) Keys() int {
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	return len(c.f.mems)
}

// Refused is how many operations of the rank found no room.
func (c *Card) Refused() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

func (c *Card) Expose(peer int, mem []byte) (conduit.Key, conduit.Status) {
	if c.Reach(peer) == (conduit.Reach{}) || c.Failed(peer) != nil {
		return conduit.Key{}, conduit.Dead
	}
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	own := 0
	for _, r := range f.mems {
		if r.rank == c.Rank() {
			own++
		}
	}
	if own >= mostKeys {
		return conduit.Key{}, conduit.Retry
	}
	f.next += 0x1_0000_0001
	f.mems[f.next] = registered{c.Rank(), peer, mem}
	return conduit.Key{ID: f.next, Base: f.next * 4096, Size: int64(len(mem))}, conduit.OK
}

func (c *Card) Release(peer int, k conduit.Key) error {
	f := c.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if r, ok := f.mems[k.ID]; (!ok || r.rank != c.Rank() || r.peer != peer) && !c.closed.Load() {
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrKey}
	}
	delete(f.mems, k.ID)
	return nil
}

func (c *Card) Get(peer int, dst []byte, k conduit.Key, off int64, done conduit.Completion) int {
	if !c.Reach(peer).Get {
		return -1
	}
	return c.take(flight{peer, true, dst, k, off, done})
}

func (c *Card) Put(peer int, src []byte, k conduit.Key, off int64, done conduit.Completion) int {
	if !c.Reach(peer).Put {
		return -1
	}
	return c.take(flight{peer, false, src, k, off, done})
}

func (c *Card) take(x flight) int {
	if c.Failed(x.peer) != nil {
		return -1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	x.local = x.local[:min(len(x.local), longestOp)]
	if c.closed.Load() {
		return -1
	}
	if len(c.flying) >= mostOps {
		c.refused++
		return 0
	}
	if len(x.local) > 0 {
		c.flying = append(c.flying, x)
		c.busy.Store(int32(len(c.flying)))
		c.Wake()
	}
	return len(x.local)
}

func (c *Card) Poll(budget int, sink conduit.Sink) int {
	n := c.Conduit.Poll(budget, sink)
	if c.land(false) {
		n++
	}
	return n
}

// land completes one of the operations, or with all at the end, or none this time.
func (c *Card) land(always bool) bool {
	c.mu.Lock()
	if len(c.flying) == 0 {
		c.mu.Unlock()
		return false
	}
	f := c.f
	f.mu.Lock()
	i, late := f.order.IntN(len(c.flying)), f.order.IntN(3) > 0
	if late && !always {
		f.mu.Unlock()
		c.mu.Unlock()
		return false
	}
	x := c.flying[i]
	c.flying = append(c.flying[:i], c.flying[i+1:]...)
	c.busy.Store(int32(len(c.flying)))
	err := f.carry(c, x)
	f.mu.Unlock()
	c.mu.Unlock()
	x.done.Completed(len(x.local), err)
	return true
}

// carry moves the bytes of x. Under mu.
func (f *fabric) carry(c *Card, x flight) error {
	if err := c.Failed(x.peer); err != nil {
		return err
	}
	r, ok := f.mems[x.k.ID]
	ok = ok && r.rank == x.peer && r.peer == c.Rank() && x.k.Base == x.k.ID*4096
	if !ok || !(conduit.Key{Size: int64(len(r.mem))}).Holds(x.off, len(x.local)) {
		return &conduit.PeerError{Peer: x.peer, Err: conduit.ErrKey, Detail: fmt.Sprintf("key %#x", x.k.ID)}
	}
	if x.get {
		copy(x.local, r.mem[x.off:])
	} else {
		copy(r.mem[x.off:], x.local)
	}
	return nil
}

func (c *Card) Pending() bool { return c.busy.Load() > 0 || c.Conduit.Pending() }

func (c *Card) Sleep(d time.Duration, ready func() bool) bool {
	return c.Conduit.Sleep(d, func() bool { return ready != nil && ready() || c.busy.Load() > 0 })
}

func (c *Card) Close() error {
	err := c.Conduit.Close()
	c.closed.Store(true)
	c.f.mu.Lock()
	for id, r := range c.f.mems {
		if r.rank == c.Rank() {
			delete(c.f.mems, id)
		}
	}
	c.f.mu.Unlock()
	for c.land(true) {
		continue
	}
	return err
}
