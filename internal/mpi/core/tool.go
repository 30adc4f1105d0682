package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/settings"
	"github.com/golci/golci/internal/tool"
)

// Counters gives all performance variables of the rank (15.3.7 of the standard). It takes time in proportion to the
// ranks of the job and to what waits. It waits for a poll that is under way, so handlers must not call it. After
// Finalize it gives the last values, and nothing waits.
func (p *Proc) Counters() tool.Values {
	v := p.rank.Counters()
	v[tool.UnexpectedBytes] = uint64(max(0, p.srv.UnexpectedBytes()))
	v[tool.WaitingProbes] = uint64(p.srv.Probes())
	of := [...]tool.ID{
		comm.PendingRecv: tool.PostedReceives, comm.PendingMove: tool.ReceivesUnderWay, comm.PendingSend: tool.PendingSends,
		comm.PendingMessage: tool.UnexpectedMessages, comm.PendingEnvelope: tool.UnexpectedMessages,
	}
	for _, w := range p.srv.Pending() {
		v[of[w.Kind]]++
	}
	return v
}

// Settings are the values of the control variables (15.3.6 of the standard), by their places among tool.Controls. They
// do not change.
func (p *Proc) Settings() *settings.Set { return p.rank.Settings() }
