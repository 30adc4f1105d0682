// Package rma is remote memory: each rank has a segment, which every rank reads, writes and updates by rank and offset.
//
// It follows GASNet's extended API: blocking, explicit and implicit puts and gets, values, memset, access regions, and
// from GASNet-EX negotiated payloads, immediate mode, local completion and remote atomics. Where the memory of a
// peer can be mapped (conduit.Remote) these are loads, stores and copies, done when the call returns. Elsewhere, or with
// Config.ActiveMessages, the same calls travel as active messages, and the peer has to poll.
//
// Two accesses to the same bytes, one of them a write, must be ordered by their users, as in any memory: by waiting for
// the first and then sending a message, or by a notification. Atomics alone may meet on the same bytes.
package rma

import (
	"cmp"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/request"
)

// Config of a rank's remote memory. Counters and ActiveMessages must be the same on all ranks; sizes may differ.
type Config struct {
	SegmentSize int64 // in bytes; 0 means DefaultSegment
	MaxSegment  int64 // the largest SegmentSize allowed; 0 means what the system grants
	Counters    int   // notification counters; 0 means DefaultCounters
	// Bounce is how many bytes of small non-bulk puts may be kept in copies while they cannot be sent; beyond it such
	// a put waits until it has been sent. 0 means DefaultBounce.
	Bounce         int64
	ActiveMessages bool // nothing is read or written directly
}

// Defaults of Config.
const (
	DefaultSegment  = 64 << 20
	DefaultCounters = 64
	DefaultBounce   = 1 << 20
)

const (
	maxSegment  = 1 << 46
	maxCounters = 1 << 16
)

// Memory is one rank's view of the segments of all ranks. Its methods may be called from any goroutine or fult
// thread, but not from a handler of active messages.
type Memory struct {
	// Fixed after New.
	e        *am.Endpoint
	prog     *progress.Engine
	remote   conduit.Remote // nil if the conduit is none, or is not to be used
	rank     int
	mem      []byte // the segment, then the counters
	size     int64  // of the segment
	counters int
	frag     int // bytes of payload in a Medium
	reply    int // bytes of payload in a reply
	bounce   int64
	unseen   bool // the race detector does not see what is done in mem

	peers   []atomic.Pointer[target]                    // by rank; nil until first used
	more    atomic.Pointer[[]atomic.Pointer[[]*target]] // by rank; nil until a region of a peer is known
	knowing sync.Mutex                                  // guards changes of more, by whoever learns of a region
	regions regions                                     // of this rank
	updates updates
	numbers request.Numbers[op] // of what awaits answers
	ops     request.Pool[op]
	calls   [256]atomic.Pointer[Callback]
	notes   waiters
	kept    atomic.Int64 // bytes in bounce buffers
	pool    sync.Pool    // of *[]byte, frag long, for negotiated payloads
	closed  atomic.Bool

	// Owned by the poller.
	answer answer
	keys   map[int]conduit.Key // under which peers reach mem, by rank
}

// New makes this rank's segment and the way to those of the others. All ranks of the job call it, each with its
// endpoint, and then let each other know (by a barrier) before the first access. It takes the handler indices 160 to
// 191 of the endpoint, and its Long segment (am.Endpoint.SetSegment). It does not block.
//
// Errors: conduit.ErrGrant, with what the system grants; ErrConfig; those of am.Endpoint.Attach.
func New(e *am.Endpoint, cfg Config) (*Memory, error) {
	if err := cfg.fillDefaults(e); err != nil {
		return nil, err
	}
	m := &Memory{
		e: e, prog: e.Progress(), rank: e.Rank(), size: cfg.SegmentSize, counters: cfg.Counters, bounce: cfg.Bounce,
		peers: make([]atomic.Pointer[target], e.Size()), keys: map[int]conduit.Key{},
	}
	if m.frag = e.MaxMedium(); m.frag < minFragment {
		return nil, fmt.Errorf("%w: Medium messages of %d bytes, want %d", ErrConfig, m.frag, minFragment)
	}
	m.reply = min(m.frag, maxReply)
	m.pool.New = func() any {
		b := make([]byte, m.frag)
		return &b
	}
	if err := m.allocateSegment(cfg); err != nil {
		return nil, err
	}
	e.SetSegment(m.Segment())
	if err := m.registerLayer(); err != nil {
		return nil, err
	}
	if !cfg.ActiveMessages {
		own := &target{rank: m.rank, size: m.size, lost: new(atomic.Bool)}
		m.peers[m.rank].Store(own.reachThrough(m, m.mem))
	}
	return m, nil
}

func (c *Config) fillDefaults(e *am.Endpoint) error {
	c.SegmentSize = cmp.Or(c.SegmentSize, DefaultSegment)
	c.Counters = cmp.Or(c.Counters, DefaultCounters)
	c.Bounce = cmp.Or(c.Bounce, DefaultBounce)
	c.MaxSegment = cmp.Or(c.MaxSegment, maxSegment)
	switch {
	case c.SegmentSize < 0 || c.SegmentSize > maxSegment:
		return fmt.Errorf("%w: rank %d: segment of %d bytes, want 1 to %d", ErrConfig, e.Rank(), c.SegmentSize, int64(maxSegment))
	case c.SegmentSize > c.MaxSegment:
		return fmt.Errorf("%w: rank %d: segment of %d bytes asked, at most %d allowed (MaxSegment)", ErrConfig, e.Rank(), c.SegmentSize, c.MaxSegment)
	case c.Counters < 0 || c.Counters > maxCounters:
		return fmt.Errorf("%w: rank %d: %d counters, want 1 to %d", ErrConfig, e.Rank(), c.Counters, maxCounters)
	case e.Segment() != nil:
		return fmt.Errorf("%w: rank %d: the endpoint has a segment already", ErrConfig, e.Rank())
	}
	return nil
}

// allocateSegment makes the memory: of the conduit, so that peers reach it, or else of the heap.
func (m *Memory) allocateSegment(cfg Config) (err error) {
	allocate := conduit.Allocate
	if c, ok := m.e.Conduit().(conduit.Remote); ok && !cfg.ActiveMessages {
		m.remote, allocate = c, c.Allocate
		for peer := range len(m.peers) {
			m.unseen = m.unseen || c.Reach(peer).Unseen
		}
	}
	if m.mem, err = allocate(m.totalSize(m.size)); err != nil {
		return fmt.Errorf("rma: rank %d: segment of %d bytes: %w", m.rank, m.size, err)
	}
	return nil
}

// totalSize is how long memory is whose segment has that size.
func (m *Memory) totalSize(size int64) int64 {
	return m.counterAt(size) + int64(m.counters)*counterStride
}

// Segment is this rank's own segment. Under the race detector only memory of one process is watched.
func (m *Memory) Segment() []byte { return m.mem[:m.size:m.size] }

// SegmentSize is the size in bytes of peer's segment. The first call for a peer asks it, and blocks. Errors as for Put.
func (m *Memory) SegmentSize(peer int) (int64, error) {
	t, err := m.askTarget(peer, 0)
	if err != nil {
		return 0, err
	}
	return t.size, nil
}

// Mapped is peer's segment itself where accesses to it are loads and stores, and nil elsewhere. It must not be used
// after the conduit has become garbage. It blocks as SegmentSize does.
func (m *Memory) Mapped(peer int) ([]byte, error) {
	t, err := m.askTarget(peer, 0)
	if err != nil {
		return nil, err
	}
	return t.mem, nil
}

// Rank is this rank, Size the number of ranks.
func (m *Memory) Rank() int { return m.rank }

// Size is the number of ranks of the job.
func (m *Memory) Size() int { return len(m.peers) }

// Close ends remote memory: what is pending ends with ErrClosed, and so do later calls. The segment stays: it can be
// used until the conduit closes. It does not block. A second Close does nothing.
func (m *Memory) Close() {
	if m.closed.Swap(true) {
		return
	}
	m.forceSlowWay()
	err := fmt.Errorf("%w: rank %d", ErrClosed, m.rank)
	m.failPeer(anyPeer, err, nil)
	m.notes.failAll(err)
}
