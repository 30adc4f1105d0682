package coll

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/arena"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/rank"
)

// Env is what the collectives of a communicator know of it. Fixed.
type Env struct {
	Server  *comm.Server
	Context uint16  // of the messages of collectives, so that no tag of the user meets them
	ID      int     // that the contexts come from
	UID     uint64  // the same on all ranks of the communicator, and no other communicator's of the job
	Peers   []int32 // world ranks of those that take part; of two groups the own one and behind it the other
	Local   int     // ranks in the own one of two groups; 0: there is one group
	Rank    int     // in the own group
	Checked bool    // messages carry the signature of their elements
	OfRank  *RankState
}

// betweenGroups tells that the communicator has two groups.
func (e *Env) betweenGroups() bool { return e.Local != 0 }

// groupSize is how many ranks the own group has, and otherSize the other one.
func (e *Env) groupSize() int {
	if e.Local != 0 {
		return e.Local
	}
	return len(e.Peers)
}

func (e *Env) otherSize() int { return len(e.Peers) - e.Local }

// Communicator is a communicator, or a view of one, as its collectives see it where something seldom happens. Functions
// of programs are named by what.
type Communicator interface {
	CheckUsable(what string) error                 // why no call can start
	Errorf(what, format string, args ...any) error // an error on this rank; the format goes on after ": " or ", "
	OpError(what string, err error) error          // the error of an operation
	Cause(err error) error                         // the reason in it, without what names the operation
	Who() string                                   // this rank, in errors
	Name() string                                  // of SetName
	PeerOf(world int) int                          // the place of a world rank among the peers; -1: it has none
	Revoked() bool                                 // as far as this rank knows
	Revoke() error                                 // ends its use on all ranks
	IsFreed() bool                                 // by the program
	Neighborhood() *schedule.Neighbours            // of its topology; nil without one
}

// View is a communicator as a program uses it: one, or a view of one.
type View struct {
	*State
	comm  Communicator
	until context.Context // when it ends the calls of the view do; nil: never
}

// contextOver tells why nothing may start on a view whose context has ended.
func contextOver(until context.Context) error {
	if until == nil || until.Err() == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", sentinel.ErrCancelled, context.Cause(until))
}

// hasPeer tells whether a world rank is among the peers.
func (st *State) hasPeer(world int) bool {
	return uint(st.comm.PeerOf(world)) < uint(len(st.Peers))
}

// RankState is what the collectives of a rank have in common.
type RankState struct {
	Rank      *rank.Rank
	Server    *comm.Server
	IDs       *contextid.IDs
	Arena     *arena.Arena
	InProcess bool        // all ranks of the job are in this process; fixed
	Typed     bool        // types of collectives are compared, maybe not at once; fixed
	Final     atomic.Bool // Finalize has begun
	Machine   uint64      // of tests: what stands for the name of the machine; else 0

	isolated atomic.Bool  // see Isolate
	account  freedCommUse // for Finalize

	mu            sync.Mutex        // guards what follows; nothing is taken under it
	m             map[uint64]*State // by uid
	earlyFailures []earlyFailure    // on communicators that are not there, not yet or not any more
	earlyRevoked  []earlyRevocation // of such communicators
}

// remote is the conduit as one that reaches memory of other ranks; nil if it is none.
func (p *RankState) remote() conduit.Remote {
	r, _ := p.Rank.Endpoint().Conduit().(conduit.Remote)
	return r
}
