package report

// What tests of a whole rank read.
type (
	CreditLine = creditLine
	PeerCredit = peerCredit
)

// Same is creditLine.same.
func (l *creditLine) Same(m *creditLine) bool { return l.same(m) }
