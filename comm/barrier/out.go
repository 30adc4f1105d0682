package barrier

import (
	"sync/atomic"

	"github.com/golci/golci/comm/am"
	"github.com/golci/golci/fult"
)

// out is the message of one step on its way. It belongs to its maker, and while queued to the queue of the pair.
type out struct {
	am.Link
	b    *Barrier
	then *out // the next to send, of the same chores
	dst  int
	args [stepArgs]uint64
	// busy from when it is made ready until nobody else looks at it any more; the store that clears it publishes that.
	busy atomic.Bool
}

// post sends m now or, if there is no room, when somebody polls. It does not block.
func (m *out) post(w *fult.Worker) {
	e := m.b.e
	body, first, o := e.Open(m.dst, handlerStep, stepArgs, 0)
	switch o {
	case am.Opened:
		am.PutArgs(body, m.args[:])
		dst := m.dst
		m.busy.Store(false) // before the peer can see it and go on
		e.Commit(dst, first)
	case am.Stalled:
		e.Enqueue(m.dst, m)
	case am.Failed:
		m.Fail(nil, w)
	}
}

// Emit implements am.Queued.
func (m *out) Emit() bool {
	e := m.b.e
	body, first, o := e.OpenQueued(m.dst, handlerStep, stepArgs, 0)
	if o != am.Opened {
		return false
	}
	am.PutArgs(body, m.args[:])
	e.CommitQueued(m.dst, first)
	return true
}

// Sent and Fail implement am.Queued. peerGone handles a dst that is gone. If this rank awaits dst, the phase fails. If
// only dst awaits this rank, dst may have ended rightly after its last message.
func (m *out) Sent(*fult.Worker)        { m.busy.Store(false) }
func (m *out) Fail(error, *fult.Worker) { m.busy.Store(false) }
