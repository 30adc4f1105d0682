package ring

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/spin"
)

// Bell is how a rank of this node sleeps and is woken.
type Bell interface {
	// Fence makes all earlier stores of all senders visible to the caller. After each later publication the sender
	// looks at the bell. It returns false if the platform cannot; sleeps are then cut short.
	Fence() bool
	// Wait blocks until Ring, or the word is no longer 1, or d has passed. It may return early.
	Wait(word *atomic.Uint32, d time.Duration)
	// Ring wakes the sleeper, after the word was set to 0.
	Ring(word *atomic.Uint32)
}

// Setup describes an endpoint. Index i in the slices is the rank's index on the node.
type Setup struct {
	// Name for Caps.
	Name string
	// Rank and Size are the job's.
	Rank, Size int
	// Self is the index of this rank on the node.
	Self int
	// Ranks maps an index on the node to a rank.
	Ranks []int
	// Segments are the receive spaces, by index on the node.
	Segments []*Segment
	// Bells wake the ranks, by index on the node; that of Self is also slept on.
	Bells []Bell
	// Memory leads to the memory of peers.
	Memory Memory
	// Mapped tells that the segments are mapped memory, and not of the Go heap. For the race detector.
	Mapped bool
}

// Endpoint is a conduit over segments. It has no goroutine of its own.
type Endpoint struct {
	Memory // of the Setup
	// Fixed after NewEndpoint.
	rank, size int
	self       int
	name       string
	g          *Geometry
	seg        *Segment
	bell       Bell
	out        []*outgoing // by rank; nil where this conduit does not lead
	in         []*incoming // by index on the node
	from       []*incoming // the same by rank
	mapped     bool        // of the Setup

	fails  conduit.Failures
	asleep atomic.Bool // somebody is in Sleep

	poll   poller
	copies copies

	closing  sync.Once
	closeErr error // set in closing
}

// outgoing is the way to one peer.
type outgoing struct {
	// Under the caller's lock for Reserve.
	prod Producer
	_    [Line]byte
	// Under the caller's lock for BulkSend.
	bulk bulkSender
	_    [Line]byte
	// Fixed.
	seg    *Segment
	bell   Bell
	index  int // of this rank on the node, so its place in the peer's mail
	credit *atomic.Uint64
}

// incoming is what comes from one peer. Under the poll lock, but for the parts that Pending reads.
type incoming struct {
	rec     Consumer
	bulk    bulkReceiver
	credit  *atomic.Uint64
	index   int  // of the sender on the node
	flip    bool // whose turn it is when the budget is too small for records and chunks both
	ignored bool // looked at no more: found corrupt, or gone
}

// poller is the state of the receiving side.
type poller struct {
	// lock keeps the poller and Close apart, which gives up the copies that the poller makes. Under the race detector
	// Pending and Watch take it, too. Pollers are kept apart by the caller.
	lock   spin.Lock
	active []*incoming // when scanning: the rings that talk
	turn   int
	todo   [64]uint64 // with the bit-vector: senders known to have mail, taken from the vector
	// Written under the lock, read by Pending without.
	summary atomic.Uint64 // of todo; may tell of too much, never of too little
	known   atomic.Uint64 // when scanning: the talking word that active was made from
	ignored atomic.Uint64 // when scanning: the rings looked at no more
}

// NewEndpoint ties the segments together.
func NewEndpoint(s Setup) (*Endpoint, error) {
	if len(s.Ranks) != len(s.Segments) || len(s.Ranks) != len(s.Bells) || s.Self < 0 || s.Self >= len(s.Ranks) {
		return nil, fmt.Errorf("%w: %d ranks, %d segments, %d bells, self %d", conduit.ErrConfig, len(s.Ranks),
			len(s.Segments), len(s.Bells), s.Self)
	}
	seg := s.Segments[s.Self]
	e := &Endpoint{
		Memory: s.Memory, rank: s.Rank, size: s.Size, self: s.Self, name: s.Name, g: seg.g, seg: seg,
		bell: s.Bells[s.Self], out: make([]*outgoing, s.Size), in: make([]*incoming, len(s.Ranks)),
		from: make([]*incoming, s.Size), mapped: s.Mapped,
	}
	e.fails.Init(s.Size)
	for i, rank := range s.Ranks {
		if rank < 0 || rank >= s.Size || e.out[rank] != nil {
			return nil, fmt.Errorf("%w: rank %d on the node, of %d", conduit.ErrConfig, rank, s.Size)
		}
		e.out[rank] = newOutgoing(s.Segments[i], s.Self, s.Bells[i])
		e.in[i] = newIncoming(seg, i, rank)
		e.from[rank] = e.in[i]
	}
	e.poll.active = make([]*incoming, 0, len(s.Ranks))
	if e.g.Tiny {
		e.copies.most = tinyCopies
	}
	return e, nil
}

func newOutgoing(seg *Segment, self int, bell Bell) *outgoing {
	p := seg.pair(self)
	return &outgoing{
		prod: newProducer(p.data, p.head, seg.g),
		bulk: bulkSender{pipe: newPipe(p.slots, seg.g, p.sent, p.taken)},
		seg:  seg, bell: bell, index: self, credit: p.credit,
	}
}

func newIncoming(seg *Segment, i, rank int) *incoming {
	p := seg.pair(i)
	return &incoming{
		rec:    Consumer{data: p.data, head: p.head, g: seg.g, src: rank},
		bulk:   bulkReceiver{pipe: newPipe(p.slots, seg.g, p.sent, p.taken)},
		credit: p.credit, index: i,
	}
}

func (e *Endpoint) Rank() int          { return e.rank }
func (e *Endpoint) Size() int          { return e.size }
func (e *Endpoint) Caps() conduit.Caps { return e.g.Caps(e.name) }

func (e *Endpoint) Mine(peer int) *atomic.Uint64 {
	if o := e.to(peer); o != nil {
		return o.credit
	}
	return nil
}

func (e *Endpoint) Theirs(peer int) *atomic.Uint64 {
	if uint(peer) < uint(len(e.from)) && e.from[peer] != nil {
		return e.from[peer].credit
	}
	return nil
}

func (e *Endpoint) to(peer int) *outgoing {
	if uint(peer) >= uint(len(e.out)) {
		return nil
	}
	return e.out[peer]
}

func (e *Endpoint) Failed(peer int) error {
	if uint(peer) < uint(e.size) && e.out[peer] == nil {
		return &conduit.PeerError{Peer: peer, Err: conduit.ErrUnreachable, Detail: fmt.Sprintf("job of %d ranks", e.size)}
	}
	return e.fails.Failed(peer)
}

// Foretell implements conduit.Foreteller.
func (e *Endpoint) Foretell(tell func(peer int, reason error)) { e.fails.Foretell(tell) }

// Fail makes peer unreachable for the given reason; the first reason stays. What the peer has committed is delivered
// all the same. The sleeper is woken.
func (e *Endpoint) Fail(peer int, reason error, detail string) {
	if e.to(peer) == nil {
		return
	}
	// The peer may have died between publishing and announcing.
	if i := e.from[peer].index; e.g.Scan {
		e.seg.senders.Or(1 << i)
	} else {
		e.seg.mail.setMail(i)
	}
	e.fails.Add(peer, reason, detail)
	e.Wake()
}

// allDelivered tells whether all that peer, which has failed, has sent was delivered; then it is looked at no more.
// Under the poll lock.
func (e *Endpoint) allDelivered(peer int) bool {
	in := e.from[peer]
	if !in.ignored && (in.rec.isReady() || in.bulk.isReady()) {
		return false
	}
	e.deafen(in)
	return true
}

// deafen ends the hearing of a sender. Under the poll lock.
func (e *Endpoint) deafen(in *incoming) {
	in.ignored = true
	e.poll.known.Store(0)
	if e.g.Scan {
		e.poll.ignored.Or(1 << in.index)
	}
}

// Close implements conduit.Conduit. It ends the copies that are under way, and then closes the Memory.
func (e *Endpoint) Close() error {
	e.closing.Do(func() {
		e.endCopies()
		e.closeErr = e.Memory.Close()
	})
	return e.closeErr
}

func (e *Endpoint) endCopies() {
	e.fails.Close()
	e.Wake()
	for !e.poll.lock.TryLock() {
		time.Sleep(10 * time.Microsecond)
	}
	e.copies.endAll(&conduit.PeerError{Peer: e.rank, Err: conduit.ErrClosed})
	e.poll.lock.Unlock()
}
