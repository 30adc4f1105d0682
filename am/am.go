// Package am is the active-message layer: requests and replies that run a handler at the peer, within its credits.
//
// It follows GASNet's core API as the Portals conduit implements it, with these differences: a request that finds no
// credits queues up on its pair (first come, first served) and is sent by whoever polls when credits return;
// returned credits travel as a cumulative count, without a message where the conduit has a shared word for it; and a
// handler declares beforehand whether and how much it replies.
//
// Upper layers in this module that want the last nanosecond use Open and Commit and write the record in place.
package am

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/platform/spin"
	"github.com/golci/golci/internal/progress"
	"github.com/golci/golci/internal/transport/credit"
)

// Errors that can be tested with errors.Is.
var (
	ErrRank    = conduit.ErrRank                     // a rank outside the job
	ErrHandler = errors.New("am: no such handler")   // an index that no layer has, or one that none can have
	ErrSize    = errors.New("am: message too large") // too many arguments or bytes, or an offset below 0
	ErrReply   = errors.New("am: reply not allowed") // a second reply, one to a reply, or one that was not declared
	ErrClosed  = conduit.ErrClosed                   // this endpoint has been closed
	ErrPeer    = conduit.ErrPeer                     // the other rank has died
)

// Config of an endpoint. Loan, ReplySpace and the conduit's geometry must be the same on all ranks.
type Config struct {
	// Credits are the terms on which ranks lend receive space. The zero value means loans that do not change, of
	// Loan credits (256 bytes each) or, if that is 0 too, of what the default table gives.
	Credits credit.Config
	// Loan: see Credits.
	Loan       int
	Poll       int             // records handled in one poll; 0 means 64, negative no bound
	SplitLongs bool            // every Long travels in two parts; else a short one is packed
	ReplySpace int             // bytes for the replies that one peer may owe; 0 means 16 KiB
	Scheduler  *fult.Scheduler // of the threads that may block here; nil if there are only goroutines
	Progress   progress.Config // tunes waiting
	Fatal      func(error)     // is told of the first fault that Err returns; may be nil
}

const (
	defaultReplySpace = 16 << 10
	pollBudget        = 64
	idlePollsToTell   = 32  // polls without news before debts are told early
	idlePollsToSend   = 256 // the same where that takes messages
)

// Endpoint is one rank's end of the active-message layer. All methods may be called from any goroutine or thread.
type Endpoint struct {
	c         conduit.Conduit
	prog      *progress.Engine
	pending   pending.Registry
	words     bool // the conduit carries credit words towards every peer; else sender.words tells of each
	hasBulk   bool
	remote    conduit.Remote   // the conduit, or nil
	streamer  conduit.Streamer // the conduit, or nil
	injector  conduit.Injector // the conduit, or nil
	watcher   conduit.Watcher  // the conduit, or nil
	underway  atomic.Int32     // Bulks that have left their queue and that the conduit still has
	maxMedium int
	rank      int
	senders   []atomic.Pointer[sender] // by peer; see senderOf
	anyGone   atomic.Bool              // one of gone is set; written by the poller
	gone      []atomic.Uint64          // a bit a peer; written by the poller
	cfg       Config
	terms     credit.Config
	specs     [256]Spec

	stalled  pendingPeers // peers whose senders have something queued
	bulkBusy pendingPeers // peers with bulk data to send

	held   atomic.Int32  // messages that layers hold back
	chores atomic.Uint32 // reasons to poll though nothing has arrived; written by the poller
	pollMu spin.Lock
	inside atomic.Uint64 // the goroutine that runs handlers, or 0; written by the poller
	guard  Guard
	recv   receiver // owned by the holder of pollMu

	longID  atomic.Uint64 // of the last split Long that was sent
	layers  registry
	bulks   [BulkChannels + 1]BulkFunc // by channel
	ticks   []func(w *fult.Worker)
	gones   []func(peer int, err error, w *fult.Worker)
	helds   []func(w *fult.Worker) int
	segment segment

	closed atomic.Bool
	err    atomic.Pointer[error] // the first fault that no caller can be told of
}

// New makes the endpoint of the conduit's rank. The endpoint polls the conduit from now on; the caller must not. It
// does not block. It fails where the terms of credits contradict each other, or a record has no room for a payload.
func New(c conduit.Conduit, cfg Config) (*Endpoint, error) {
	cfg.ReplySpace = cmp.Or(cfg.ReplySpace, defaultReplySpace)
	switch {
	case cfg.Poll == 0:
		cfg.Poll = pollBudget
	case cfg.Poll < 0:
		cfg.Poll = math.MaxInt32
	}
	e := &Endpoint{c: c, rank: c.Rank(), cfg: cfg, words: allWords(c)}
	e.setTerms()
	e.hasBulk = c.Caps().BulkChunk > 0
	e.remote, _ = c.(conduit.Remote)
	e.streamer, _ = c.(conduit.Streamer)
	e.injector, _ = c.(conduit.Injector)
	e.watcher, _ = c.(conduit.Watcher)
	if e.maxMedium = PayloadOf(c.Caps().MaxRecord, &e.terms); e.maxMedium < 3*argBytes {
		return nil, fmt.Errorf("am: records of %d bytes on loans of %d credits leave no room for a payload", c.Caps().MaxRecord, e.terms.Least())
	}
	if err := e.initSenders(); err != nil {
		return nil, err
	}
	if err := e.recv.initSenders(e); err != nil {
		return nil, err
	}
	e.prog = progress.New(source{e}, cfg.Scheduler, cfg.Progress)
	return e, e.attachInternal()
}

// Rank is this endpoint's rank.
func (e *Endpoint) Rank() int { return e.rank }

// Size is the number of ranks of the job.
func (e *Endpoint) Size() int { return len(e.senders) }

// Conduit is the conduit below; for statistics and capabilities only.
func (e *Endpoint) Conduit() conduit.Conduit { return e.c }

// Progress is the engine that waits and polls for this endpoint.
func (e *Endpoint) Progress() *progress.Engine { return e.prog }

// Pending is the registry of what the rank waits for. Layers attach their sources to it.
func (e *Endpoint) Pending() *pending.Registry { return &e.pending }

// PayloadOf is the longest payload in bytes of a Medium request with the most arguments. The conduit's records have up
// to record bytes, and peers lend on those terms. The result is less than 1 where there is no room for one.
func PayloadOf(record int, terms *credit.Config) int {
	room := min(record, credit.MaxCost*credit.Unit, terms.Least()*credit.Unit)
	return room - headerBytes - (MaxArgs+1)*argBytes // a Long has one word more
}

// MaxMedium is the largest payload of a Medium message in bytes, with any number of arguments.
func (e *Endpoint) MaxMedium() int { return e.maxMedium }

// HandlerName is the name in the Spec of handler h; "" if there is none. Layers are attached before it is called.
func (e *Endpoint) HandlerName(h uint8) string { return e.specs[h].Name }

// PollingWorker is the worker that polls, or nil. Only a conduit in its Poll may call it.
func (e *Endpoint) PollingWorker() *fult.Worker { return e.recv.w }

// AsPoller runs f as the poller: no poll, and so no handler, runs beside it. It waits for a poll that is under way; a
// handler may call it, and is the poller already.
func (e *Endpoint) AsPoller(f func()) {
	if e.InHandler() {
		f()
		return
	}
	e.pollMu.Lock()
	defer e.pollMu.Unlock()
	f()
}

// Err is the first fault that no caller could be told of.
func (e *Endpoint) Err() error {
	if err := e.err.Load(); err != nil {
		return *err
	}
	return nil
}

// Fault reports a fault that no caller can be told of.
func (e *Endpoint) Fault(err error) {
	if e.err.CompareAndSwap(nil, &err) && e.cfg.Fatal != nil {
		e.cfg.Fatal(err)
	}
}

// PeerFailed is nil while peer can be reached, else the reason.
func (e *Endpoint) PeerFailed(peer int) error { return e.c.Failed(peer) }

// Close ends the endpoint: later sends give ErrClosed, and so do those that are queued and bulk data that has not
// been sent. What the conduit has of bulk data ends when it has moved, and if the conduit moves it in its polls
// before Close returns. What another goroutine is just starting or sending ends with its next poll or a further
// Close. Close does not close the conduit and does not block.
func (e *Endpoint) Close() {
	e.closed.Store(true)
	e.prog.Wake()
	e.moveWaiting(nil) // nobody may poll any more
	for e.underway.Load() > 0 && e.pollOnce(nil) > 0 {
		continue // a conduit that copies in its polls comes to an end
	}
}
