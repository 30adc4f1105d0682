package barrier

import (
	"math/bits"

	"github.com/golci/golci/realm/internal/event"
)

// Limits of phases, relative to the last one that has triggered.
const (
	window = event.MaxBarrierGen + 1 // of the phases that an ID can tell apart

	// maxAhead is how far the owner accepts arrivals, alterations and subscriptions for phases to come.
	maxAhead = window / 4
	// maxBehind is how far back a subscription may go. An ID that is not older, or was misread, is never silently
	// taken for another phase: a phase that is wrong by a window is outside of both limits.
	maxBehind = window / 4
	// Kept is for how many of the last phases a rank knows results and poison.
	Kept = 16

	maxPhase = 1 << 60
)

// Gen is the generation that an ID has for a phase.
func Gen(phase uint64) uint32 { return uint32(phase % window) }

// nearest is the phase with a generation that is nearest to a known phase: above known-window/2, and at most
// known+window/2. It is 1 at least.
func nearest(gen uint32, known uint64) uint64 {
	low := uint64(1)
	if known > window/2 {
		low = known - window/2 + 1
	}
	return low + (uint64(gen)-low)%window
}

// Handle is what a user has of a barrier beside its name: a phase, and the last alteration that it must not overtake.
type Handle struct {
	Phase uint64
	Stamp Stamp
}

// Next is the handle of the next phase. It keeps the stamp: a rank that arrives there may be told of the alteration,
// too.
func (h Handle) Next() Handle { return Handle{h.Phase + 1, h.Stamp} }

// Stamp names an alteration: the rank that has made it in the 16 high bits, its number there in the others. The first
// number is 1; zero is no alteration.
type Stamp uint64

const stampBits = 48

func makeStamp(rank int32, n uint64) Stamp { return Stamp(rank)<<stampBits | Stamp(n) }

func (s Stamp) rank() int32 { return int32(s >> stampBits) }
func (s Stamp) n() uint64   { return uint64(s & (1<<stampBits - 1)) }

// phase is what the owner knows of one that has not triggered.
type phase struct {
	num      uint64
	expected int64 // arrivals
	arrived  int64 // at most expected
	poison   *event.Poison
	value    []byte // of all arrivals with a value; nil if there is none
	subs     ranks  // that have subscribed
}

// record is what is kept of a phase that has triggered.
type record struct {
	num    uint64
	bad    uint64 // last poisoned phase up to num
	poison *event.Poison
	value  []byte // never written again
	gone   bool   // the value is not known any more
}

// records has the last phases that a rank has been told of.
type records [Kept]record

func (r *records) putRecord(x record) {
	if at := &r[x.num%Kept]; at.num <= x.num {
		*at = x
	}
}

// getRecord finds a record; nil if it is not kept.
func (r *records) getRecord(num uint64) *record {
	if at := &r[num%Kept]; at.num == num {
		return at
	}
	return nil
}

// ranks is a set of ranks.
type ranks []uint64

func (s *ranks) addRank(r int32) {
	for int(r>>6) >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[r>>6] |= 1 << (r & 63)
}

func (s ranks) hasRank(r int32) bool { return r>>6 < int32(len(s)) && s[r>>6]>>(r&63)&1 != 0 }

// allBelow tells whether all are below size.
func (s ranks) allBelow(size int) bool {
	ok := true
	s.eachRank(func(r int32) { ok = ok && int(r) < size })
	return ok
}

// eachRank calls f with all, in order.
func (s ranks) eachRank(f func(r int32)) {
	for i, m := range s {
		for ; m != 0; m &= m - 1 {
			f(int32(i*64 + bits.TrailingZeros64(m)))
		}
	}
}

// listBut is all but one.
func (s ranks) listBut(but int32) (all []uint16) {
	s.eachRank(func(r int32) {
		if r != but {
			all = append(all, uint16(r))
		}
	})
	return all
}
