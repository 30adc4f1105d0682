package credit

// Lender is the receiving half of a pair: this rank's loan to a peer. The poller owns it. A Ledger has one for each
// peer.
type Lender struct {
	told    uint32 // cumulative, wraps: credits whose space has been copied out, as the peer was told
	owed    uint16 // those of which it was not
	loan    uint16
	granted uint16 // cumulative, wraps: by how much the loan has grown
	given   uint16 // by how much it has grown of late; decays
	epoch   uint8  // up to which given and asked have decayed
	asked   uint8  // times that the peer needed more of late; decays, saturates
	since   uint8  // epoch of the last revoke
	flags   uint8
}

// Flags of a Lender. Above them stands the number of times that the revoke was repeated.
const (
	inFlight = 1 << iota // a revoke was sent and not answered
	zero                 // the last one was answered with nothing, in this epoch
	gone                 // the peer is dead
	oneTry
)

const mostTries = 5

// newLender starts a pair with the given loan in credits. Owed credits are due when they are a quarter of the loan.
func newLender(loan int) Lender {
	return Lender{loan: uint16(loan)}
}

// noteFreed notes that the space of a record of n credits can be used again, and reports whether the debt is due.
func (l *Lender) noteFreed(n int) (due bool) {
	l.owed += uint16(n)
	return l.owed >= l.loan>>2
}

// owedBytes is the number of credits freed and not yet told.
func (l *Lender) owedBytes() int { return int(l.owed) }

// tellFreed returns the cumulative count to give the peer, and counts it as told.
func (l *Lender) tellFreed() uint32 {
	l.told += uint32(l.owed)
	l.owed = 0
	return l.told
}

// lentBytes is the number of credits lent.
func (l *Lender) lentBytes() int { return int(l.loan) }

// passEpochs lets the recent demand decay by four for each epoch that has ended since the last call. A peer untouched
// for a multiple of 256 epochs keeps its recent demand, once.
func (l *Lender) passEpochs(epoch uint8) {
	if epoch == l.epoch {
		return
	}
	k := min(epoch-l.epoch, enough) * 2
	l.given >>= k
	l.asked >>= k
	l.flags &^= zero
	l.epoch = epoch
}
