package core

import (
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/contextid"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Ranks exchange notices about collectives, apart from the messages of the calls. A rank on which a call has failed
// tells all others. A rank that waits long asks the rank that it waits for; that rank answers if it has called another
// collective. A rank that frees a communicator tells its members, after its last message.

// Kinds of notices. Their arguments are: the uid of the communicator, the number of the call, the kind with the rank
// that sends it in its upper half, and one more.
const (
	noticeFailed   = iota // the reason; the text is the function, ": " and the text of the error
	noticeAsk             // the tags of the call: that of all messages << 32 | that of the last
	noticeAnswer          // the tag of what the rank has called
	noticeLeft            // the id of the communicator; no uid, call and rank
	noticeWindow          // of a window: what it is about in place of the call, and its argument
	noticeRevoked         // that the communicator is revoked
	noticeAgree           // of an agreement; the text is its message
	noticeCall            // a call at a port: its key in place of the uid, and the number of the port
	noticeAnswered        // the answer to that: the key, and what became of the call
	noticeShm             // that the shared segment has changed, for a rank that may be asleep
	noticeParts           // of a partitioned send: the channel; call is the tag and its number; the text is the batch
)

// lowHalf is of an argument that holds two values.
const lowHalf = 1<<32 - 1

// otherCall is what another rank has called in a call's place.
type otherCall struct {
	call uint64
	rank int
	tag  int
}

func (x *Call) tellFailure(err error) {
	for r := range x.size {
		if r != x.rank {
			x.notify(r, noticeFailed, x.reason(err), x.kind+": "+err.Error())
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
func (x *Call) askRank(rank int) { x.notify(rank, noticeAsk, uint64(x.tag)<<32|uint64(x.lastTag), "") }

func (x *Call) notify(rank int, kind, arg uint64, text string) {
	x.c.Srv.Notify(int(x.c.peers[rank]), [4]uint64{x.st.uid, x.call, uint64(x.rank)<<32 | kind, arg}, text)
}

// colls finds the communicators of a rank.
type colls struct {
	mu            sync.Mutex            // guards what follows; nothing is taken under it
	m             map[uint64]*collState // by uid
	earlyFailures []earlyFailure        // on communicators that are not there, not yet or not any more

	earlyRevoked []earlyRevocation // of such communicators
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

func (x *colls) addState(st *collState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil {
		x.m = make(map[uint64]*collState)
	}
	x.m[st.uid] = st
	for _, n := range x.earlyFailures {
		if n.uid == st.uid && st.c.hasPeer(n.src) {
			st.lower(n.err)
		}
	}
}

// revoked gives the communicator that another rank, src in the world, has revoked. If it is not there that is noted for
// newComm. nil also if that rank is no member.
func (x *colls) revoked(uid uint64, src int) *Comm {
	x.mu.Lock()
	defer x.mu.Unlock()
	if st := x.m[uid]; st != nil {
		if !st.c.hasPeer(src) {
			return nil
		}
		return st.c
	}
	if len(x.earlyRevoked) == keptFailures {
		x.earlyRevoked = append(x.earlyRevoked[:0], x.earlyRevoked[1:]...)
	}
	x.earlyRevoked = append(x.earlyRevoked, earlyRevocation{uid, src})
	return nil
}

// wasRevoked tells whether a communicator has been revoked, by one of its members, before it was there.
func (x *colls) wasRevoked(c *Comm, uid uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.ContainsFunc(x.earlyRevoked, func(r earlyRevocation) bool { return r.uid == uid && c.hasPeer(r.src) })
}

func (x *colls) removeState(st *collState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.m, st.uid)
}

func (x *colls) getState(uid uint64) *collState {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.m[uid]
}

// withID gives the communicator with that id; nil if there is none, or if it has been freed.
func (x *colls) withID(id int) *Comm {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, st := range x.m {
		if st.c.id == id {
			return st.c
		}
	}
	return nil
}

// noteFailed notes a failure that another rank, src in the world, has told of. It gives the state if that is news for
// it. A rank that is no member of the communicator cannot have failed there. known tells whether this rank has the
// communicator.
func (x *colls) noteFailed(uid uint64, src int, e *sentinel.CollectiveError) (news *collState, known bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := x.m[uid]
	if st == nil {
		if len(x.earlyFailures) == keptFailures {
			x.earlyFailures = append(x.earlyFailures[:0], x.earlyFailures[1:]...)
		}
		x.earlyFailures = append(x.earlyFailures, earlyFailure{uid, src, e})
		return nil, false
	}
	if !st.c.hasPeer(src) {
		return nil, true
	}
	e.Rank = st.c.peerOf(src)
	if !st.lower(e) {
		return nil, true
	}
	return st, true
}

// noticed is called by the poller with each notice.
func (p *Proc) noticed(src int, args [4]uint64, text []byte, w *fult.Worker) {
	uid, call, what, rank, arg := args[0], args[1], args[2]&lowHalf, int(args[2]>>32), args[3]
	switch what {
	case noticeLeft:
		if arg < contextid.Max { // else it would be kept for ever
			p.ids.NoteLeft(int(arg), 0)
		}
		return
	case noticeWindow:
		windows, st := p.layers.windows.Load(), p.colls.getState(uid)
		if windows != nil && st != nil {
			(*windows).Noticed(uid, st.c.peerOf(src), call, arg, w)
		}
		return
	case noticeCall:
		if arg == callWithdrawn {
			p.withdrawn(caller{src, uid}, call)
		} else {
			p.called(caller{src, uid}, call, w)
		}
		return
	case noticeAnswered:
		p.onAnswered(uid, refusal(arg), w)
		return
	case noticeAgree:
		p.faults.noticed(p, uid, src, text, w)
		return
	case noticeRevoked:
		if c := p.colls.revoked(uid, src); c != nil {
			c.revoke(true, w)
		}
		return
	case noticeParts:
		p.parts.noticed(partKey{uid, src, int(call >> 32), uint32(call)}, arg, text)
		return
	case noticeFailed:
		if call == 0 { // Finalize's, of whose failure no rank tells
			return
		}
		kind, why, _ := strings.Cut(string(text), ": ")
		e := &sentinel.CollectiveError{Rank: rank, Call: call, Kind: kind, Err: sentinel.NewRemoteError(why, arg&lowHalf)}
		if errors.Is(e.Err, sentinel.ErrPeer) { // which src has told the launcher, and this rank does not know itself yet
			p.rank.Follows(src)
		}
		st, known := p.colls.noteFailed(uid, src, e)
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
		return
	}
	st := p.colls.getState(uid)
	if st != nil {
		rank = st.c.peerOf(src)
	}
	if st == nil && what == noticeAsk {
		p.account.answerAsked(p, src, uid, call, int(arg>>32), int(arg&lowHalf))
	}
	if st == nil || uint(rank) >= uint(st.size) {
		return // freed, or not made yet: a rank that still waits asks again
	}
	if what == noticeShm {
		st.listener.Alarm.Complete(w)
		return
	}
	if what == noticeAsk {
		st.answerAsked(call, rank, int(arg>>32), int(arg&lowHalf))
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

// answerAsked answers a rank that waits in a call whose messages have one of two tags. A rank that has not made the
// call yet, or has made it in the same way, does not answer.
func (st *collState) answerAsked(call uint64, rank, tag, lastTag int) {
	mine, ok := st.tagOf(call)
	if !ok && st.c.proc.final.Load() && call > st.state.Load()/2 {
		mine, ok = algorithm.MakeTag(st.size, algorithm.Finalize, 0, 0), true
	}
	if !ok || !answers(mine, tag, lastTag) && !st.withoutShm(call, tag) {
		return
	}
	x := Call{c: st.c, st: st, rank: st.c.rank, call: call}
	x.notify(rank, noticeAnswer, uint64(mine), "")
}

// withoutShm tells that a rank waits in the making of a shared segment, before a call which this rank has made as one
// that does not wait. Such a call makes no shared segment.
func (st *collState) withoutShm(call uint64, tag int) bool {
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
