package core

import (
	"strings"
	"sync"

	"github.com/golci/golci/fult"
)

// Ranks exchange notices about collectives, apart from the messages of the calls. A rank on which a call has failed
// tells all others. A rank that waits long asks the rank that it waits for; that rank answers if it has called another
// collective. A rank that frees a communicator tells its members, after its last message.

// Kinds of notices. Their arguments are: the uid of the communicator, the number of the call, the kind with the rank
// that sends it in its upper half, and one more.
const (
	noticeFailed = iota // the reason; the text is the function, ": " and the text of the error
	noticeAsk           // the tags of the call: that of all messages << 32 | that of the last
	noticeAnswer        // the tag of what the rank has called
	noticeLeft          // the id of the communicator; no uid, call and rank
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
			x.notify(r, noticeFailed, reasonOf(err), x.kind+": "+err.Error())
		}
	}
}

// ask asks a rank to answer if it has called another collective.
func (x *Call) ask(rank int) { x.notify(rank, noticeAsk, uint64(x.tag)<<32|uint64(x.lastTag), "") }

func (x *Call) notify(rank int, kind, arg uint64, text string) {
	x.c.Srv.Notify(int(x.c.group[rank]), [4]uint64{x.st.uid, x.call, uint64(x.rank)<<32 | kind, arg}, text)
}

// colls finds the communicators of a rank.
type colls struct {
	mu    sync.Mutex            // guards what follows; nothing is taken under it
	m     map[uint64]*collState // by uid
	early []earlyFailure        // on communicators that are not there, not yet or not any more
}

type earlyFailure struct {
	uid uint64
	err *CollectiveError
}

// keptFailures is how many failures are kept for communicators that this rank may still be making.
const keptFailures = 64

func (x *colls) add(st *collState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.m == nil {
		x.m = make(map[uint64]*collState)
	}
	x.m[st.uid] = st
	for _, n := range x.early {
		if n.uid == st.uid {
			st.lower(n.err)
		}
	}
}

func (x *colls) remove(st *collState) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.m, st.uid)
}

func (x *colls) get(uid uint64) *collState {
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

// failed notes a failure that another rank has told of. It gives the state if that is news for it.
func (x *colls) failed(uid uint64, e *CollectiveError) *collState {
	x.mu.Lock()
	defer x.mu.Unlock()
	st := x.m[uid]
	if st == nil {
		if len(x.early) == keptFailures {
			x.early = append(x.early[:0], x.early[1:]...)
		}
		x.early = append(x.early, earlyFailure{uid, e})
		return nil
	}
	if !st.lower(e) {
		return nil
	}
	return st
}

// noticed is called by the poller with each notice.
func (p *Proc) noticed(_ int, args [4]uint64, text []byte, w *fult.Worker) {
	uid, call, what, rank, arg := args[0], args[1], args[2]&lowHalf, int(args[2]>>32), args[3]
	switch what {
	case noticeLeft:
		if arg < maxIDs { // else it would be kept for ever
			p.ids.left(int(arg), 0)
		}
		return
	case noticeFailed:
		kind, why, _ := strings.Cut(string(text), ": ")
		e := &CollectiveError{Rank: rank, Call: call, Kind: kind, Err: reasonFrom(why, arg)}
		if st := p.colls.failed(uid, e); st != nil {
			st.news.Alarm.Complete(w)
			st.stop(w, (*Call).poisoned)
		}
		return
	}
	st := p.colls.get(uid)
	if st == nil || uint(rank) >= uint(st.size) {
		return // freed, or not made yet: a rank that still waits asks again
	}
	if what == noticeAsk {
		st.asked(call, rank, int(arg>>32), int(arg&lowHalf))
		return
	}
	st.answer.Store(&otherCall{call, rank, int(arg)})
	st.news.Alarm.Complete(w)
	st.stop(w, func(x *Call) error {
		if x.call != call {
			return nil
		}
		return x.differs(rank, int(arg))
	})
}

// asked answers a rank that waits in a call whose messages have one of two tags. A rank that has not made the call
// yet, or has made it in the same way, does not answer.
func (st *collState) asked(call uint64, rank, tag, lastTag int) {
	mine, ok := st.tagOf(call)
	if !ok && st.c.proc.final.Load() && call > st.state.Load()/2 {
		mine, ok = collTag(st.size, wayFinalize, 0, 0), true
	}
	if !ok || mine == tag || mine == lastTag || tagWay(tag) == wayRound {
		return
	}
	x := Call{c: st.c, st: st, rank: st.c.rank, call: call}
	x.notify(rank, noticeAnswer, uint64(mine), "")
}
