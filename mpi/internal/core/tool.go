package core

import (
	"github.com/golci/golci/internal/observe/pending"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/observe/tool"
)

// Counters gives all performance variables of the rank (15.3.7 of the standard). It takes time in proportion to the
// ranks of the job and to what waits. It waits for a poll that is under way, so handlers must not call it. After
// Finalize it gives the last values, and nothing waits.
func (p *Proc) Counters() tool.Values {
	v := p.rank.Counters()
	v[tool.UnexpectedBytes] = uint64(max(0, p.srv.UnexpectedBytes()))
	of := [...]tool.ID{
		pending.Recv: tool.PostedReceives, pending.Move: tool.ReceivesUnderWay, pending.Send: tool.PendingSends,
		pending.Probe: tool.WaitingProbes, pending.Call: tool.PendingCalls,
		pending.Message: tool.UnexpectedMessages, pending.Envelope: tool.UnexpectedMessages,
	}
	p.rank.Endpoint().Pending().Each(func(w *pending.Op) {
		if w.Layer == "" {
			v[of[w.Kind]]++
		}
	})
	return v
}

// Settings are the values of the control variables (15.3.6 of the standard), by their places among tool.Controls. They
// do not change.
func (p *Proc) Settings() *settings.Set { return p.rank.Settings() }
