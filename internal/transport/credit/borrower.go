package credit

import (
	"fmt"

	"github.com/golci/golci/internal/platform/invariants"
)

// Borrower is the sending half of a pair: the peer's loan to this rank. The holder of the pair's send lock owns it.
// Nothing in it blocks.
type Borrower struct {
	returned uint32 // cumulative, wraps, as last told by the peer
	inUse    uint16 // spent and not known to be returned; wraps without flow control
	loan     uint16
	most     uint16 // in use at once of late; decays
	low      uint16 // in use after the last news
	granted  uint16 // cumulative, wraps, as last told by the peer
	asking   uint16 // credits that will have been returned when the last need has been answered
	revoked  uint8  // given back of late; decays, saturates
	need     uint8  // to ask for with the next request
	epoch    uint8  // of the peer, as last read in a word; or of this rank, as last told on a record
	state    uint8  // the mode, refused, and above it stalls: requests that had to wait of late; decays, saturates
}

const (
	modeMask = 3
	refused  = 4 // the last need was not granted
	oneStall = 8
)

func (b *Borrower) mode() Mode { return Mode(b.state & modeMask) }

func (b *Borrower) stalls() int { return int(b.state / oneStall) }

// Borrow starts the sending half of a pair on the terms of c.
func Borrow(c *Config) (Borrower, error) {
	if err := c.Check(); err != nil {
		return Borrower{}, err
	}
	return Borrower{loan: uint16(c.PerPeer), state: uint8(c.Mode)}, nil
}

// Loan is the number of credits lent.
func (b *Borrower) Loan() int { return int(b.loan) }

// InUse is the number of credits spent and not known to be returned; without flow control modulo 2^16.
func (b *Borrower) InUse() int { return int(b.inUse) }

// Free is the number of credits that Take can spend now; without flow control it means nothing.
func (b *Borrower) Free() int { return int(b.loan) - int(b.inUse) }

// Take spends n credits if so many are free, all or nothing. Without flow control it always does.
func (b *Borrower) Take(n int) bool {
	use := uint32(b.inUse) + uint32(n)
	if use > uint32(b.loan) && b.mode() != NoFlow {
		return false
	}
	b.inUse = uint16(use)
	return true
}

// TakeQuietly is Take where the next request has no need to tell. Its Fields are then n, which is less than Long.
func (b *Borrower) TakeQuietly(n int) bool {
	if int(b.inUse)+n > int(b.loan) || b.need != 0 {
		return false
	}
	b.inUse += uint16(n)
	return true
}

// Undo gives back n credits of a Take whose record was not sent.
func (b *Borrower) Undo(n int) { b.inUse -= uint16(n) }

// Stall notes that a request of n credits has to wait for a Take that failed, once for each request. If ask is true, a
// are the arguments of an Ask to send at once. After a refusal the need travels with the next request instead, which
// costs nothing. Nothing more is asked for until the need has been answered.
//
// The need is what waits, and at least min(loan, 16 + loan/4): a stall shows that the loan is too small, not by how
// much. So a small loan doubles in each round trip, and a large one ends at most a third above the need.
func (b *Borrower) Stall(n int) (a Args, ask bool) {
	if b.mode() != Dynamic {
		return Args{}, false
	}
	if b.state < 256-oneStall {
		b.state += oneStall
	}
	if b.asking > 0 {
		return Args{}, false
	}
	if b.need == 0 {
		n = max(n-int(b.loan)+int(b.inUse), min(int(b.loan), 16+int(b.loan)/4))
	}
	b.need = uint8(min(maxNeed, int(b.need)+max(1, n)))
	if b.state&refused != 0 || b.inUse == 0 {
		return Args{}, false
	}
	a[0] = int32(b.loan) + int32(b.need)
	b.need, b.asking = 0, b.inUse
	return a, true
}

// Wire returns the Fields of a record that is about to be sent; its Take has been made. n is its cost in credits, 0
// for a record that costs nothing. epoch is this rank's Ledger.Epoch. On a request, n above 0, the need tells what
// Stall has noted since the last request. The bit E is set if the peer has been told of fewer epochs than have ended;
// each record tells of one. On carriers whose notes are words of 64 bits, the word has the epoch: use WireNeed there.
func (b *Borrower) Wire(n int, epoch uint8) Fields {
	if b.need|(b.epoch^epoch) != 0 {
		return b.wireSlow(n, epoch)
	}
	return Fields(min(n, Long))
}

//go:noinline // or Wire is too large to be inlined
func (b *Borrower) wireSlow(n int, epoch uint8) Fields {
	f := b.WireNeed(n)
	if b.untoldEpochs(epoch) > 0 {
		b.epoch++
		f |= epochBit
	}
	return f
}

// WireNeed is Wire without E.
func (b *Borrower) WireNeed(n int) Fields {
	f := Fields(min(n, Long))
	if b.need > 0 && n > 0 { // a lender looks for need on requests only
		f |= Fields(b.need) << 8
		b.need = 0
		b.asking = b.inUse
	}
	return f
}

// untoldEpochs is the number of epochs to tell the peer of. After eight, sixteen bits have decayed to nothing.
func (b *Borrower) untoldEpochs(epoch uint8) uint8 {
	if epoch-b.epoch > enough {
		b.epoch = epoch - enough
	}
	return epoch - b.epoch
}

const enough = 8

// Stamp completes a system message that is about to be sent to the peer, on carriers where epochs travel on records.
func (b *Borrower) Stamp(a *Args, epoch uint8) {
	a[1] = int32(b.untoldEpochs(epoch))
	b.epoch = epoch
}

// Epochs notes that k epochs of the peer have ended: the values of recent use decay by four for each. k beyond 8 counts
// as 8.
func (b *Borrower) Epochs(k int) {
	k = min(max(0, k), enough) * 2
	b.most >>= k
	b.revoked >>= k
	b.state = uint8(b.stalls()>>k)*oneStall | b.state&(oneStall-1)
}

// noteTold takes in the peer's cumulative count of returned credits and reports whether it was news. It ignores a count
// that lies behind. A count that returns more than was spent is a fault of the peer.
func (b *Borrower) noteTold(cumulative uint32) (news bool, err error) {
	delta := cumulative - b.returned
	if delta == 0 || int32(delta) < 0 {
		return false, nil
	}
	return b.hearWord(delta, 0, 0)
}

// hearWord takes in that credits were returned and granted, and that epochs of the peer have passed meanwhile.
func (b *Borrower) hearWord(returned, granted uint32, passed uint8) (news bool, err error) {
	if returned > uint32(b.inUse) && b.mode() != NoFlow {
		return false, fmt.Errorf("%w: it returned %d credits, only %d are out", ErrProtocol, returned, b.inUse)
	}
	if uint32(b.loan)+granted > 1<<15 {
		return false, fmt.Errorf("%w: it granted %d credits beyond a loan of %d", ErrProtocol, granted, b.loan)
	}
	b.observeUse(passed)
	b.returned += returned
	b.inUse -= uint16(returned)
	b.low = b.inUse
	b.granted += uint16(granted)
	b.loan += uint16(granted)
	b.needAnswered(returned, granted)
	if invariants.Enabled {
		invariants.Check(b.inUse <= b.loan || b.mode() == NoFlow, "%d credits in use of a loan of %d", b.inUse, b.loan)
	}
	return true, nil
}

// needAnswered finds out whether the last need was granted. The lender has seen it when all credits in use at that time
// have been returned.
func (b *Borrower) needAnswered(returned, granted uint32) {
	switch {
	case granted > 0:
		b.asking = 0
		b.state &^= refused
	case b.asking > 0 && returned >= uint32(b.asking):
		b.asking = 0
		b.state |= refused
	default:
		b.asking -= uint16(min(returned, uint32(b.asking)))
	}
}

// observeUse updates b.most, the recent peak of credits in use. It is called before a note is taken in: between two
// notes inUse only grows, so it is at its peak then. passed is the number of the lender's epochs since the last note.
// If passed is above 1, this rank has not read the shared word meanwhile. The peer may have returned credits all that
// time, so they were not all in use at once. Then only the growth per epoch counts: that since the last note, divided
// by passed. The old peak decays first (Epochs).
func (b *Borrower) observeUse(passed uint8) {
	peak := b.inUse
	if passed > 1 && peak > b.low {
		peak = b.low + (peak-b.low)/uint16(passed)
	}
	b.Epochs(int(passed))
	b.most = max(b.most, peak)
}

// Revoke serves a Revoke of the peer and returns the arguments of the Return to answer it with. Where notes are in
// words, the word must have been heard before. Arguments that cannot be are a fault of the peer, and change nothing.
//
// It keeps what was in use at once of late and what is in use now. It gives nothing after a stall. Unless the loan is
// idle, it gives at most RevokeLimit in an epoch.
func (b *Borrower) Revoke(c *Config, a Args) (Args, error) {
	if uint32(a[0]) > 1<<16-1 || b.mode() != Dynamic {
		return Args{}, fmt.Errorf("%w: revoke of %d with %v credits", ErrProtocol, a[0], b.mode())
	}
	b.Epochs(int(a[1]))
	given := b.givenCount(c)
	if want := int16(uint16(a[0]) - given); want > 0 {
		n := b.spareCredits(c, int(want))
		b.loan -= uint16(n)
		b.revoked = uint8(min(255, int(b.revoked)+n))
		given += uint16(n)
	}
	return Args{int32(given)}, nil
}

// givenCount is the cumulative count of credits given back.
func (b *Borrower) givenCount(c *Config) uint16 { return uint16(c.PerPeer) + b.granted - b.loan }

func (b *Borrower) spareCredits(c *Config, want int) int {
	if b.stalls() > 0 {
		return 0
	}
	n := min(want, int(b.loan)-max(c.Min, int(b.most), int(b.inUse)))
	if idle := b.inUse == 0 && int(b.most) <= c.Min; !idle {
		n = min(n, c.RevokeLimit-int(b.revoked))
	}
	return max(0, n)
}

// Hint says that the traffic to the peer will need a loan of want credits. If the loan is smaller, it returns the
// arguments of an Ask to send now. Without a hint the loan grows as stalls show the need. Hinted credits are not given
// back for some epochs, even if they are not used.
func (b *Borrower) Hint(want int) (a Args, ask bool) {
	want = min(want, MaxLoan)
	if b.mode() != Dynamic || want < 1 {
		return Args{}, false
	}
	b.most = max(b.most, uint16(want))
	return Args{int32(want)}, want > int(b.loan)
}
