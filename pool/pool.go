package pool

import (
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"github.com/golci/golci/internal/platform/invariants"
)

// Options describes a pool.
type Options[T any] struct {
	Workers int // number of sub-pools, at least 1

	// Room is the number of items that one sub-pool can hold. It is rounded up to a power of two. 0 means twice its
	// share of Limit, at most Limit. Workers*Room must be at least Limit, so that every item of the pool has a place.
	Room int

	Limit int // the largest number of items that the pool makes

	// New makes an item. It must not return nil. The package's New calls it for the first Initial items. Get calls it
	// for more, up to Limit, when it has found all sub-pools empty, maybe several at once.
	New func() *T

	// Initial is the number of items that the function New makes. They are dealt out evenly. It is at most Limit.
	Initial int

	// Poison and Check are optional, and called only in builds with invariants. Put calls Poison with every item. Get
	// calls Check with every item that a sub-pool held. If Check returns false, the item was written to in the pool,
	// and the program ends. No lock is held during these calls.
	Poison func(*T)
	Check  func(*T) bool
}

// ErrOptions is wrapped by New and NewStack for options out of range and for options that contradict one another.
var ErrOptions = errors.New("pool: bad options")

const (
	maxWorkers = 1 << 16
	maxRoom    = 1 << 30
)

// Pool is a set of items of type T, with one sub-pool for each worker. Any number of goroutines may call all methods.
type Pool[T any] struct {
	subs []deque[T] // the slice is read only

	// Read only.
	limit  int64
	fresh  func() *T
	poison func(*T)
	check  func(*T) bool
	// allFull, if not nil, is called when Put has found each sub-pool full, before it takes all locks. For tests.
	allFull func()

	_    [128]byte    // made is written while the above is read
	made atomic.Int64 // items in existence
	_    [128]byte
}

// New makes a pool. For bad options the error wraps ErrOptions and names the field and its value. It does not block.
func New[T any](o Options[T]) (*Pool[T], error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	p := &Pool[T]{
		subs:   make([]deque[T], o.Workers),
		limit:  int64(o.Limit),
		fresh:  o.New,
		poison: o.Poison,
		check:  o.Check,
	}
	for i := range p.subs {
		p.subs[i].ring = make([]*T, o.Room)
	}
	for i := range o.Initial {
		item := o.New()
		if item == nil {
			return nil, fmt.Errorf("%w: New returned nil", ErrOptions)
		}
		p.made.Add(1)
		p.Put(i%o.Workers, item)
	}
	return p, nil
}

// complete checks o and fills in Room.
func (o *Options[T]) complete() error {
	switch {
	case o.Workers < 1 || o.Workers > maxWorkers:
		return fmt.Errorf("%w: Workers %d, allowed 1 to %d", ErrOptions, o.Workers, maxWorkers)
	case o.New == nil:
		return fmt.Errorf("%w: New is nil", ErrOptions)
	case o.Limit < 1 || o.Limit > maxRoom:
		return fmt.Errorf("%w: Limit %d, allowed 1 to %d", ErrOptions, o.Limit, maxRoom)
	case o.Initial < 0 || o.Initial > o.Limit:
		return fmt.Errorf("%w: Initial %d, allowed 0 to Limit %d", ErrOptions, o.Initial, o.Limit)
	case o.Room < 0 || o.Room > maxRoom:
		return fmt.Errorf("%w: Room %d, allowed 0 to %d", ErrOptions, o.Room, maxRoom)
	}
	if o.Room == 0 {
		o.Room = min(o.Limit, 2*((o.Limit+o.Workers-1)/o.Workers))
	}
	o.Room = 1 << bits.Len(uint(o.Room-1))
	if o.Room*o.Workers < o.Limit {
		return fmt.Errorf("%w: Workers*Room %d is below Limit %d", ErrOptions, o.Room*o.Workers, o.Limit)
	}
	return nil
}

// Get takes an item for worker i. It first tries the youngest item of sub-pool i. Then it tries the oldest item of
// each other sub-pool once, from a random one on. Then it makes an item, up to Limit. It returns nil if every item is
// in use, or if items moved while Get looked. An i outside 0 to Workers-1 stands for a caller that is no worker. Get
// then chooses a sub-pool by the identity of the calling goroutine. It does not block or switch threads.
func (p *Pool[T]) Get(i int) *T {
	if uint(i) >= uint(len(p.subs)) {
		return p.Get(p.outsider())
	}
	d := &p.subs[i]
	ring := d.ring // read before the exchange, for which all later loads have to wait
	w := d.seize()
	if w.packetCount()-1 >= busy.packetCount()-1 { // none, or busy
		return p.getSlow(i, w)
	}
	item := *place(ring, w.top()-1)
	d.releaseLock(w - onePlace - oneItem)
	if invariants.Enabled {
		p.leaving(item)
	}
	return item
}

// Put gives an item back to worker i, which should be the worker that touched it last. i is as for Get. If sub-pool i
// is full, the item goes to another one. If all are full, Put returns false and the collector gets the item. That needs
// items that the pool did not make. A nil item gives false. Put does not block or switch threads.
func (p *Pool[T]) Put(i int, item *T) bool {
	if item == nil {
		return false
	}
	if uint(i) >= uint(len(p.subs)) {
		return p.Put(p.outsider(), item)
	}
	if invariants.Enabled && p.poison != nil {
		p.poison(item)
	}
	d := &p.subs[i]
	ring := d.ring // as in Get
	w := d.seize()
	if w.packetCount() >= uint32(len(ring)) { // full, or busy
		return p.putSlow(i, w, item)
	}
	*place(ring, w.top()) = item
	d.releaseLock(w + onePlace + oneItem)
	return true
}
