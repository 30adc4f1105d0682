package core

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/mpi/internal/agree"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Agreement of ranks of which some may have died. Package agree decides; here its messages travel as notices, and the
// deaths that the conduit tells of reach it.

// faults are the agreements of a rank.
type faults struct {
	mu         sync.Mutex // guards what follows; nothing is taken under it
	m          map[uint64]*agreements
	earlyVotes map[uint64][]earlyVote // by uid: of communicators that this rank has not made yet

	waiting  atomic.Int32 // number of entries of early
	survived atomic.Bool  // the program has acknowledged a death, or has shrunk a communicator after one
}

// agreements are those on one communicator. They outlive it: a rank that still waits may need what this one knows.
type agreements struct {
	c      *Comm
	series *agree.Series
	acked  agree.Set
	known  []int32 // ranks that have failed, in the order in which the program can have heard of them
	open   *voting // the call that has not returned
	calls  uint64
}

type earlyVote struct {
	from int // rank of the world
	m    []byte
}

// voting is a call that waits for a decision.
type voting struct {
	req    comm.Req
	value  agree.Value
	number uint64
}

const mostEarlyVotes = 1 << 12 // that are kept

// mostAgreeing is for how many ranks the two sets of a message of an agreement fit a notice with that room.
func mostAgreeing(room int) int { return 64 * ((room - 32) / 16) }

// agreementsOf gives the agreements on c. It is called with mu held.
func (f *faults) agreementsOf(c *Comm) *agreements {
	a := f.m[c.coll.UID]
	if a != nil {
		return a
	}
	n := len(c.peers)
	a = &agreements{c: c, series: agree.New(c.rank, n), acked: agree.NewSet(n)}
	if f.m == nil {
		f.m = make(map[uint64]*agreements)
	}
	f.m[c.coll.UID] = a
	for r, w := range c.peers { // died hears of those that follow, because a is listed
		if c.Srv.Gone(int(w)) {
			a.series.Failed(r) // before the first call it has nothing to send
		}
	}
	return a
}

// doStep has step take part in the agreements, and sends what comes of it. step is called with mu held. w is the worker
// that calls, or nil.
func (f *faults) doStep(w *fult.Worker, step func() (*agreements, []agree.Action)) {
	f.mu.Lock()
	a, out := step()
	var ended *voting
	for _, x := range out {
		if x.To == agree.Caller && a.open != nil {
			ended, a.open = a.open, nil
			ended.value = x.Message.Value
		}
	}
	f.mu.Unlock()
	for _, x := range out {
		if x.To != agree.Caller {
			a.sendAction(x)
		}
	}
	if ended != nil {
		a.c.Srv.EndCall(ended.req, nil, w)
	}
}

func (a *agreements) sendAction(x agree.Action) {
	c := a.c
	c.Srv.Notify(int(c.peers[x.To]), [4]uint64{c.coll.UID, 0, uint64(c.rank)<<32 | notice.Agree, 0},
		string(x.Message.Append(nil)))
}

// noticed takes a message of an agreement from a rank of the world. It is called by the poller.
func (f *faults) noticed(p *Proc, uid uint64, from int, text []byte, w *fult.Worker) {
	st := p.colls.Get(uid)
	f.doStep(w, func() (*agreements, []agree.Action) {
		a := f.m[uid]
		if a == nil && st != nil {
			a = f.agreementsOf(st.Comm().(*Comm))
		}
		if a != nil {
			return a, a.takeMessage(from, text)
		}
		if f.waiting.Load() < mostEarlyVotes {
			if f.earlyVotes == nil {
				f.earlyVotes = make(map[uint64][]earlyVote)
			}
			f.earlyVotes[uid] = append(f.earlyVotes[uid], earlyVote{from, append([]byte(nil), text...)})
			f.waiting.Add(1)
		}
		return nil, nil
	})
	if st == nil {
		if st = p.colls.Get(uid); st != nil { // made meanwhile
			f.made(st.Comm().(*Comm))
		}
	}
}

// takeMessage gives a message to the series. What no rank can have sent has no effect.
func (a *agreements) takeMessage(from int, text []byte) []agree.Action {
	m, err := agree.Parse(text, len(a.c.peers))
	if err != nil {
		return nil
	}
	out, _ := a.series.Step(a.c.peerOf(from), m)
	return out
}

// made hands out what has come for a communicator before it was there.
func (f *faults) made(c *Comm) {
	if f.waiting.Load() == 0 {
		return
	}
	f.doStep(nil, func() (a *agreements, out []agree.Action) {
		early := f.earlyVotes[c.coll.UID]
		delete(f.earlyVotes, c.coll.UID)
		f.waiting.Add(-int32(len(early)))
		if len(early) > 0 {
			a = f.agreementsOf(c)
		}
		for _, v := range early {
			out = append(out, a.takeMessage(v.from, v.m)...)
		}
		return a, out
	})
}

// died tells all agreements of the death of a rank of the world. It is called by the poller.
func (f *faults) died(world int, w *fult.Worker) {
	f.mu.Lock()
	var all []*agreements
	for _, a := range f.m {
		if a.c.peerOf(world) >= 0 {
			all = append(all, a)
		}
	}
	f.mu.Unlock()
	for _, a := range all {
		f.doStep(w, func() (*agreements, []agree.Action) { return a, a.series.Failed(a.c.peerOf(world)) })
	}
}

// agreeable tells why the function what cannot agree on c. A revoked communicator can.
func (c *Comm) agreeable(what string) error {
	if c == nil || c.proc == nil || !c.Revoked() {
		if err := c.usableIntra(what); err != nil {
			return err
		}
	} else if err := c.proc.rank.Ended(); err != nil {
		return c.commErrorf(what, ": %w", err)
	}
	if n, most := len(c.peers), mostAgreeing(c.Srv.NoticeRoom()); n > most {
		return c.commErrorf(what, ": %w: %d ranks, with records of this size the most are %d (GOLCI_EAGER)",
			errs.UnsupportedOperation, n, most)
	}
	return nil
}

// vote begins the next agreement on c with a flag, in the scope sc.
func (c *Comm) vote(sc scope, flag uint64) (v *voting, err error) {
	what := sc.what
	if err := c.agreeable(what); err != nil {
		return nil, err
	}
	c = c.origin()
	sc = sc.beyond(c)  // it goes on when c is revoked, and whoever dies
	c.Srv.PollInTurn() // ranks that agree at once wait for nothing
	f := &c.proc.faults
	v = &voting{req: sc.beginWait(c.Srv, pending.AnyRank, pending.Nobody)}
	f.doStep(nil, func() (*agreements, []agree.Action) {
		a := f.agreementsOf(c)
		if a.open != nil {
			err = c.commErrorf(what, ": %w: another agreement", sentinel.ErrConcurrent)
			return a, nil
		}
		var out []agree.Action
		if out, err = a.series.Call(flag, a.acked); err == nil {
			a.open, v.number = v, a.calls
			a.calls++
		}
		return a, out
	})
	if err != nil {
		c.Srv.EndCall(v.req, nil, nil)
		_, _ = c.Srv.Wait(v.req)
		return nil, err
	}
	return v, nil
}

// decided waits for the decision. If the scope ends before, the agreement goes on without the caller.
func (c *Comm) decided(sc scope, flag uint64) (*voting, error) {
	v, err := c.vote(sc, flag)
	if err != nil {
		return nil, err
	}
	if _, err := sc.waitReq(c.Srv, v.req); err != nil {
		return nil, c.commErrorf(sc.what, ": %w", c.proc.cause(err))
	}
	return v, nil
}

// Agree gives all living ranks of c the bitwise and of the flags of those that have called it, whatever ranks die
// meanwhile. It waits for all living ranks. It works on a revoked communicator, too. Errors: ErrPeer where a rank has
// died whose death not all callers had acknowledged, on all ranks alike, and with the flag; ErrConcurrent, ErrComm.
func (c *Comm) Agree(flag uint64) (uint64, error) {
	const what = "Agree"
	v, err := c.decided(c.scope(what), flag)
	if err != nil {
		return 0, err
	}
	return v.value.Flag, c.unacked(what, v.value)
}

// Iagree is Agree that does not wait. When the request is done, what flag points at is what all have agreed on. That
// must not be touched before.
func (c *Comm) Iagree(flag *uint64) (Request, error) {
	const what = "Iagree"
	sc := c.scope(what)
	v, err := c.vote(sc, *flag)
	if err != nil {
		return Request{}, err
	}
	sc = sc.beyond(c)
	req := c.later(&sc, func() error {
		_, err := sc.waitReq(c.Srv, v.req)
		if err == nil {
			*flag, err = v.value.Flag, c.unacked(what, v.value)
		}
		return err
	})
	return Request{c: c, req: req}, nil
}

// unacked is the error of an agreement that finds deaths which somebody has not acknowledged.
func (c *Comm) unacked(what string, v agree.Value) error {
	for r := range v.Unacked().All() {
		return c.commErrorf(what, ": %w: %s", sentinel.ErrPeer, c.peerText(r))
	}
	return nil
}

// update gives known with what has come since, at the end. It is called with faults.mu held.
func (a *agreements) update() []int32 {
	seen := agree.NewSet(len(a.c.peers))
	for _, r := range a.known {
		seen.Add(int(r))
	}
	failed := a.series.Failures()
	for r, w := range a.c.peers {
		if !seen.Has(r) && (failed.Has(r) || a.c.Srv.Gone(int(w))) {
			a.known = append(a.known, int32(r))
		}
	}
	return a.known
}

// Failures lists the ranks of c that are known here to have died, in the order in which that became known.
func (c *Comm) Failures() ([]int, error) {
	return c.failures("GetFailed", 0)
}

// AckFailed acknowledges the first n of the ranks that Failures lists, and gives how many of them are acknowledged now.
// Agree does not fail because of ranks that all have acknowledged, and receives from any source wait again.
func (c *Comm) AckFailed(n int) (int, error) {
	if n < 0 {
		return 0, c.commErrorf("AckFailed", ": %w: %d", sentinel.ErrArgument, n)
	}
	if _, err := c.failures("AckFailed", n); err != nil {
		return 0, err
	}
	c.origin().doubt(false, nil)
	f := &c.proc.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.agreementsOf(c.origin()).acked.Len(), nil
}

// failures lists the failures, and acknowledges the first ack of them.
func (c *Comm) failures(what string, ack int) (list []int, err error) {
	if err := c.agreeable(what); err != nil {
		return nil, err
	}
	c.Srv.Poll() // who asks again and again for a death makes no other progress
	f := &c.proc.faults
	f.mu.Lock()
	defer f.mu.Unlock()
	a := f.agreementsOf(c.origin())
	for i, r := range a.update() {
		list = append(list, int(r))
		if i < ack {
			a.acked.Add(int(r))
			f.survived.Store(true)
		}
	}
	return list, nil
}
