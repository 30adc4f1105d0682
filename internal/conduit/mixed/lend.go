package mixed

import "github.com/golci/golci/comm/conduit"

// LendsTo implements conduit.Lender: towards far peers, if their conduit does.
func (m *mixed) LendsTo(peer int) bool {
	return m.lender != nil && m.caps.BulkChunk > 0 && uint(peer) < uint(len(m.roads)) && !m.roads[peer].near && m.lender.LendsTo(peer)
}

// BulkLend implements conduit.Lender.
func (m *mixed) BulkLend(peer int, id uint64, off int64, data []byte, loan conduit.Loan) int {
	if !m.LendsTo(peer) {
		return m.BulkSend(peer, id, off, data)
	}
	m.quiet.over()
	return m.lender.BulkLend(peer, id, off, data, loan)
}
