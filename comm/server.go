// Package comm is the communication server: it matches messages to receives by context, source and tag, in MPI's
// order, over active messages, and moves large messages by rendezvous.
//
// The server is a role. Whoever waits or is idle runs it (package progress), or a goroutine of its own does. It works
// on an endpoint that exists already: package rank brings one up.
//
// Matching goes through the hash table of Fult, where a receive and a message of the same key meet in one operation.
// A small message travels eagerly; one that is larger, or one whose receiver has too many unmatched bytes of
// this sender already, sends an envelope, and its bytes follow when a receive has been found for it.
package comm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/am"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/request"
)

// Config of a server. Eager must be the same on all ranks.
type Config struct {
	// Eager is the largest message in bytes that travels with its envelope; 0 means what the conduit's records allow,
	// up to DefaultEager.
	Eager int
	// LongEager is the largest that may travel so where that has been quicker than to ask the receiver first, and
	// always to peers on other nodes. Less than Eager means Eager. It must be the same on all ranks.
	LongEager int
	// Unexpected is how many unmatched eager bytes of one sender are kept; 0 means its share of UnexpectedBudget.
	// Beyond it that sender is asked to send envelopes only; what its credits cover may still come. Of all senders
	// together UnexpectedBudget bytes are kept, or this many if they are more.
	Unexpected int
	// Entries sizes the matching table: about how many operations and messages wait at once; 0 means DefaultEntries.
	Entries int
	Waits   Waits  // is told of blocking calls that have waited; nil if nobody is
	Scheme  Scheme // of large messages between ranks that reach each other's memory
}

// Defaults of Config.
const (
	DefaultEager   = 8 << 10
	DefaultEntries = 1 << 16
)

// Server is one rank's communication server. Its methods may be called from any goroutine or fult thread, also at once.
// Ranks are those of the job. While a fult thread blocks in a call, other threads of its worker run.
//
// Calls that take a rank and a tag give ErrRank, ErrTag, ErrContext, ErrAssert or ErrClosed at once. An operation that
// fails later ends with an *OpError of ErrTruncate, ErrPeer, ErrClosed, ErrCancelled, ErrType, ErrMemory or ErrAssert.
// A request that has been waited for gives ErrRequest. A call that blocks gives am.ErrContext in a handler.
type Server struct {
	e        *am.Endpoint
	eng      *progress.Engine
	registry *pending.Registry // of the rank
	rank     int
	size     int
	eager    int // the largest message that may travel with its envelope
	sure     int // the largest that always does, if there is room
	injected int // the longest message in bytes that Inject takes, and the limit allows

	matching matching
	peers    []peer                   // owned by the poller, but for the atomics
	held     map[int32]earlyEnvelopes // by source: envelopes that came before their turn; the poller's
	batch    progress.Batch           // the poller's
	arrived  uint64                   // unexpected messages so far; the poller's

	envelopes atomic.Int64 // of messages without a receive; the poller adds, anyone may subtract

	retired  map[uint16]bool                  // contexts that take no messages; the poller's
	revoked  atomic.Pointer[map[uint16]bool]  // contexts whose end the program has not asked for; nil: none. See Revoke
	refusals atomic.Pointer[map[uint16]error] // see RefuseAnySource; nil: none
	gone     func(peer int, w *fult.Worker)   // OnGone
	asserts  atomic.Pointer[assertTable]
	receives recvTurns
	sends    sync.Map // of *sendTurns, by key
	paths    sync.Map // of *paths, by rank; only of those that send large messages

	ids       request.Numbers[op] // of operations that wait for an answer
	errMu     spin.Lock           // guards op.err of what more than one may end
	free      opPools
	packets   packetPools
	bulks     sync.Pool // of *am.Bulk
	transfers sync.Pool // of *transfer

	listeners listeners
	notice    NoticeFunc // set before traffic
	probes    probes
	unmatched unexpectedBudget // the poller's
	ticks     uint32
	lost      map[int32]error // the poller's: peers that have failed, of which this poll has told

	closed     atomic.Bool
	quick      int    // see quickRanks; fixed
	waits      Waits  // nil if nobody is told; fixed
	scheme     Scheme // of Config; fixed
	streams    bool   // the conduit has a bulk channel; fixed
	spins      int    // see tryRecvDirect; fixed
	localIndex int    // place of threadOp in progress.Local; fixed
}

// New starts the server of the endpoint's rank, as a layer that takes bulk data on channel 0. It is called before
// traffic, and once for an endpoint. Errors: those of am.Endpoint.Attach and progress.Engine.Keep, and ErrRank for a
// job that is too large.
func New(e *am.Endpoint, cfg Config) (*Server, error) {
	if e.Size() > MaxRanks {
		return nil, fmt.Errorf("%w: a job of %d ranks, the most is %d", ErrRank, e.Size(), MaxRanks)
	}
	s := &Server{e: e, eng: e.Progress(), registry: e.Pending(), rank: e.Rank(), size: e.Size(), waits: cfg.Waits}
	s.scheme, s.streams = cfg.Scheme, e.Conduit().Caps().BulkChunk > 0
	s.quick = s.quickRanks(cfg.Waits)
	s.setLimits(cfg)
	if err := s.matching.initTable(s.entries(cfg)); err != nil {
		return nil, err
	}
	s.retired, s.held = make(map[uint16]bool), make(map[int32]earlyEnvelopes)
	s.peers = make([]peer, s.size)
	workers := 1
	if sched := s.eng.Scheduler(); sched != nil {
		workers = sched.Workers()
	}
	if err := s.packets.initPools(workers, s.eager); err != nil {
		return nil, err
	}
	s.bulks.New = func() any { return new(am.Bulk) }
	s.transfers.New = func() any { return new(transfer) }
	if err := s.attachTo(); err != nil {
		return nil, err
	}
	s.allowTakes()
	s.registry.Attach(operations{s})
	var err error
	s.localIndex, err = s.eng.Keep("comm", func(t *fult.Thread) any { return s.newThreadOp(t) })
	return s, err
}

func (s *Server) setLimits(cfg Config) {
	s.eager = cfg.Eager
	if s.eager == 0 {
		s.eager = DefaultEager
	}
	s.sure = min(s.eager, s.e.MaxMedium())
	s.eager = min(max(s.eager, cfg.LongEager), s.e.MaxMedium())
	s.injected = min(s.sure, conduit.InjectBytes)
	s.unmatched.bounds(int64(cfg.Unexpected), s.size)
}

func (s *Server) entries(cfg Config) int {
	if cfg.Entries == 0 {
		return DefaultEntries
	}
	return cfg.Entries
}

// Rank is this server's rank.
func (s *Server) Rank() int { return s.rank }

// Size is the number of ranks.
func (s *Server) Size() int { return s.size }

// Endpoint is the active-message layer below; upper layers may register handlers of their own on it before traffic.
func (s *Server) Endpoint() *am.Endpoint { return s.e }

// EagerLimit is the largest message in bytes that travels with its envelope if there is room at the receiver.
func (s *Server) EagerLimit() int { return s.sure }

// Poll makes progress once, without blocking, and returns how much there was; -1 if another caller was at it.
func (s *Server) Poll() int { return s.e.Poll() }

// PollInTurn is Poll at one call in sixteen: for calls that end without a poll. A program may make no others.
func (s *Server) PollInTurn() { s.eng.PollInTurn() }

// Close ends the server and its endpoint: operations that are pending end with ErrClosed, and so do later ones. One
// that another thread was just starting may be missed; a further Close ends it. Where a receive has ended so while
// its sender was copying, the sender may still write to its buffer.
func (s *Server) Close() {
	s.closed.Store(true)
	s.e.AsPoller(func() { // a handler may have an op in hand
		s.keepStrays()
		s.registry.EndWhere(func(*pending.Op) error { return s.closedError() }, nil)
	})
	s.e.Close()
}

// onTick runs in every poll, by the poller.
func (s *Server) onTick(w *fult.Worker) {
	s.batch.Flush(w)
	if len(s.lost) > 0 {
		s.failLost(w)
	}
	if len(s.unmatched.throttled) > 0 {
		s.unthrottle()
	}
	s.ticks++
}

// threadOp is the op that a fult thread uses for its blocking calls.
func (s *Server) threadOp(t *fult.Thread) *op {
	at := &s.eng.Local(t).Kept[s.localIndex]
	o, ok := (*at).(*op)
	if !ok { // a thread that was there before the server
		o = s.newThreadOp(t)
		*at = o
	}
	return o
}

func (s *Server) newThreadOp(t *fult.Thread) *op {
	o := newReceive(s)
	o.packetPool = int16(packetPoolOf(t.Worker()))
	return o
}
