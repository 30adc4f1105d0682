package core

import (
	"sync"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/notice"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/observe/pending"
)

// Windows is the part of package win in a rank. It hears what other ranks tell of a window, which has the uid of its
// communicator. from is the rank there that has told it; one out of range is no member. It is called by the poller, and
// must not block.
type Windows interface {
	Noticed(uid uint64, from int, what, arg uint64, w *fult.Worker)
}

// layerState keeps what the packages above have made for this rank.
type layerState struct {
	making  sync.Mutex // held while it is made
	windows atomic.Pointer[Windows]
}

// Windows gives the part of package win, which f makes at the first call.
func (p *Proc) Windows(f func() (Windows, error)) (Windows, error) {
	if w := p.layers.windows.Load(); w != nil {
		return *w, nil
	}
	p.layers.making.Lock()
	defer p.layers.making.Unlock()
	if w := p.layers.windows.Load(); w != nil {
		return *w, nil
	}
	w, err := f()
	if err == nil {
		p.layers.windows.Store(&w)
	}
	return w, err
}

// UID is the number that a communicator shares with no other one of its ranks.
func (c *Comm) UID() uint64 { return c.coll.UID }

// TellWindow sends a notice to the Windows of a rank of c, after all messages that have been sent to it. It does not
// block.
func (c *Comm) TellWindow(rank int, what, arg uint64) {
	c.Srv.Notify(int(c.group[rank]), [4]uint64{c.coll.UID, what, uint64(c.rank)<<32 | notice.Window, arg}, "")
}

// NewWait registers a wait of the function what, which EndWait ends. Before, it ends when a rank of c dies, when c is
// revoked, when the context of a view ends, or the rank does.
func (c *Comm) NewWait(what string) comm.Req {
	return c.scope(what).beginWait(c.Srv, pending.AnyRank, func(rank int) bool { return c.peerOf(rank) >= 0 })
}

// EndWait ends a wait of NewWait. w is the worker that calls, or nil.
func (c *Comm) EndWait(r comm.Req, w *fult.Worker) { c.Srv.EndCall(r, nil, w) }

// AwaitWait waits for r, which is of NewWait, and gives why it has ended before EndWait. It blocks.
func (c *Comm) AwaitWait(r comm.Req) error {
	_, err := c.waitReq(r)
	if err != nil {
		err = c.cause(err)
	}
	return err
}

// AtOnce is the request of a call that is done, and polls in turn.
func (c *Comm) AtOnce() Request {
	c.Srv.PollInTurn()
	return Request{c: c, req: comm.Req{}}
}
