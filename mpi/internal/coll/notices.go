package coll

import (
	"errors"
	"slices"
	"strings"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Ranks exchange notices about collectives, apart from the messages of the calls. A rank on which a call has failed
// tells all others. A rank that waits long asks the rank that it waits for; that rank answers if it has called another
// collective. A rank that frees a communicator tells its members, after its last message.

// otherCall is what another rank has called in a call's place.
type otherCall struct {
	call uint64
	rank int
	tag  int
}

func (x *Call) tellFailure(err error) {
	for r := range x.size {
		if r != x.rank {
			x.notify(r, notice.Failed, x.reason(err), x.kind+": "+err.Error())
		}
	}
}

// reasonOwed is added to the reason of a call that fails because one before it has.
const reasonOwed = 1 << 32

func (x *Call) reason(err error) uint64 {
	if x.owed.Load() {
		return sentinel.ReasonNumber(err) | reasonOwed
	}
	return sentinel.ReasonNumber(err)
}

// askRank asks a rank to answer if it has called another collective.
func (x *Call) askRank(rank int) { x.notify(rank, notice.Ask, uint64(x.tag)<<32|uint64(x.lastTag), "") }

func (x *Call) notify(rank int, kind, arg uint64, text string) {
	x.st.Server.Notify(int(x.st.Peers[rank]), [4]uint64{x.st.UID, x.call, uint64(x.rank)<<32 | kind, arg}, text)
}

type earlyFailure struct {
	uid uint64
	src int // rank of the world
	err *sentinel.CollectiveError
}

type earlyRevocation struct {
	uid uint64
	src int // rank of the world
}

// keptFailures is how many failures are kept for communicators that this rank may still be making.
const keptFailures = 64

// Add makes a communicator known.
func (p *RankState) Add(st *State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.m == nil {
		p.m = make(map[uint64]*State)
	}
	p.m[st.UID] = st
	for _, n := range p.earlyFailures {
		if n.uid == st.UID && st.hasPeer(n.src) {
			st.lower(n.err)
		}
	}
}

// NoteRevoked gives the communicator that another rank, src in the world, has revoked. If it is not there that is noted
// for WasRevoked. nil also if that rank is no member.
func (p *RankState) NoteRevoked(uid uint64, src int) Communicator {
	p.mu.Lock()
	defer p.mu.Unlock()
	if st := p.m[uid]; st != nil {
		if !st.hasPeer(src) {
			return nil
		}
		return st.comm
	}
	if len(p.earlyRevoked) == keptFailures {
		p.earlyRevoked = append(p.earlyRevoked[:0], p.earlyRevoked[1:]...)
	}
	p.earlyRevoked = append(p.earlyRevoked, earlyRevocation{uid, src})
	return nil
}

// WasRevoked tells whether a communicator has been revoked, by one of its members, before it was there.
func (st *State) WasRevoked() bool {
	p := st.OfRank
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.earlyRevoked, func(r earlyRevocation) bool {
		return r.uid == st.UID && st.hasPeer(r.src)
	})
}

// Remove forgets a communicator.
func (p *RankState) Remove(st *State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.m, st.UID)
}

// Get gives the communicator with that uid; nil if there is none.
func (p *RankState) Get(uid uint64) *State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.m[uid]
}

// WithID returns the collectives of the communicator with that id; nil if there is none, or if it has been freed.
func (p *RankState) WithID(id int) *State {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.m {
		if st.ID == id {
			return st
		}
	}
	return nil
}

// With lists the communicators that have a rank of the world.
func (p *RankState) With(world int) (list []*State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, st := range p.m {
		if st.comm.PeerOf(world) >= 0 {
			list = append(list, st)
		}
	}
	return list
}

// noteFailed notes a failure that another rank, src in the world, has told of. It gives the state if that is news for
// it. A rank that is no member of the communicator cannot have failed there. known tells whether this rank has the
// communicator.
func (p *RankState) noteFailed(uid uint64, src int, e *sentinel.CollectiveError) (news *State, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	st := p.m[uid]
	if st == nil {
		if len(p.earlyFailures) == keptFailures {
			p.earlyFailures = append(p.earlyFailures[:0], p.earlyFailures[1:]...)
		}
		p.earlyFailures = append(p.earlyFailures, earlyFailure{uid, src, e})
		return nil, false
	}
	if !st.hasPeer(src) {
		return nil, true
	}
	e.Rank = st.comm.PeerOf(src)
	if !st.lower(e) {
		return nil, true
	}
	return st, true
}

// Noticed is called by the poller with each notice about a collective.
func (p *RankState) Noticed(src int, args [4]uint64, text []byte, w *fult.Worker) {
	uid, call, what, rank, arg := args[0], args[1], args[2]&notice.LowHalf, int(args[2]>>32), args[3]
	if what == notice.Failed {
		p.onFailed(src, args, text, w)
		return
	}
	st := p.Get(uid)
	if st != nil {
		rank = st.comm.PeerOf(src)
	}
	if st == nil && what == notice.Ask {
		p.account.answerAsked(p, src, uid, call, int(arg>>32), int(arg&notice.LowHalf))
	}
	if st == nil || uint(rank) >= uint(st.size) {
		return // freed, or not made yet: a rank that still waits asks again
	}
	if what == notice.Shm {
		st.listener.Alarm.Complete(w)
		return
	}
	if what == notice.Ask {
		st.answerAsked(call, rank, int(arg>>32), int(arg&notice.LowHalf))
		return
	}
	st.answer.Store(&otherCall{call, rank, int(arg)})
	st.listener.Alarm.Complete(w)
	st.stopCalls(w, func(x *Call) error {
		if x.call != call {
			return nil
		}
		return x.differs(rank, int(arg))
	})
}

// onFailed takes the notice that a call has failed on another rank.
func (p *RankState) onFailed(src int, args [4]uint64, text []byte, w *fult.Worker) {
	uid, call, rank, arg := args[0], args[1], int(args[2]>>32), args[3]
	if call == 0 { // Finalize's, of whose failure no rank tells
		return
	}
	kind, why, _ := strings.Cut(string(text), ": ")
	e := &sentinel.CollectiveError{
		Rank: rank, Call: call, Kind: kind, Err: sentinel.NewRemoteError(why, arg&notice.LowHalf),
	}
	if errors.Is(e.Err, sentinel.ErrPeer) { // which src has told the launcher, and this rank does not know itself yet
		p.Rank.Follows(src)
	}
	st, known := p.noteFailed(uid, src, e)
	if !known {
		p.account.noteFailed(p, uid, e)
	}
	if st != nil {
		st.listener.Alarm.Complete(w)
		st.stopCalls(w, (*Call).poisoned)
		if arg&reasonOwed == 0 {
			st.oweEnded(call, w)
		}
	}
}

// answerAsked answers a rank that waits in a call whose messages have one of two tags. A rank that has not made the
// call yet, or has made it in the same way, does not answer.
func (st *State) answerAsked(call uint64, rank, tag, lastTag int) {
	mine, ok := st.tagOf(call)
	if !ok && st.OfRank.Final.Load() && call > st.state.Load()/2 {
		mine, ok = algorithm.MakeTag(st.size, algorithm.Finalize, 0, 0), true
	}
	if !ok || !answers(mine, tag, lastTag) && !st.withoutShm(call, tag) {
		return
	}
	x := Call{view: &st.whole, st: st, rank: st.Rank, call: call}
	x.notify(rank, notice.Answer, uint64(mine), "")
}

// withoutShm tells that a rank waits in the making of a shared segment, before a call which this rank has made as one
// that does not wait. Such a call makes no shared segment.
func (st *State) withoutShm(call uint64, tag int) bool {
	return algorithm.OfTag(tag) == algorithm.ShmMake &&
		st.tags[call%algorithm.KeptTags].Load()&algorithm.TagEntryLater != 0
}

// answers tells that a rank which has called what the tag mine is of answers one that asks with two tags.
func answers(mine, tag, lastTag int) bool {
	if w := algorithm.OfTag(mine); w == algorithm.Finalize || w == algorithm.Free {
		return true
	}
	return mine != tag && mine != lastTag && !algorithm.OfTag(tag).ComesBefore()
}
