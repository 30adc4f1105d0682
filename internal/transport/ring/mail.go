package ring

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// maxRanks is how many ranks may share a segment: one summary word tells of 64 words of 64 bits.
const maxRanks = 64 * 64

// mail is a two-level bit-vector with one bit a sender and one summary bit a word. Senders use it to tell a receiver
// who has mail. A bit is set after the record it announces, and taken before the rings are looked at.
//
// Setting skips the exchange where the bit is set already. That is sound because the sender's publication is a full
// fence before it reads the bit, and taking is a full fence before the taker reads the ring. If the sender saw the
// bit still set, the taker comes later and sees the record.
type mail struct {
	summary *atomic.Uint64
	words   *[64]atomic.Uint64
}

func newMail(summary, words []byte) mail {
	return mail{
		summary: (*atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(summary))),
		words:   (*[64]atomic.Uint64)(unsafe.Pointer(unsafe.SliceData(words))),
	}
}

// setMail announces mail of sender i. The caller's last store before it must have been a full fence.
func (m *mail) setMail(i int) {
	w, bit := i>>6, uint64(1)<<(i&63)
	if m.words[w].Load()&bit == 0 {
		m.words[w].Or(bit)
	}
	// Always looked at, also when the bit was there: whoever set it may not have come to the summary yet.
	if m.summary.Load()&(1<<w) == 0 {
		m.summary.Or(1 << w)
	}
}

// takeMail moves all announcements into todo, with its summary in known, and returns the summary. A summary bit is
// cleared before its word is emptied, so that a word that fills again is announced again. known tells of a word before
// its bit is cleared here, so that whoever reads the vector and then known misses nothing.
func (m *mail) takeMail(todo *[64]uint64, known *atomic.Uint64) uint64 {
	summary := known.Load()
	s := m.summary.Load()
	if s == 0 {
		return summary
	}
	known.Store(summary | s)
	m.summary.And(^s)
	for ; s != 0; s &= s - 1 {
		w := bits.TrailingZeros64(s)
		if bits := m.words[w].Swap(0); bits != 0 {
			todo[w] |= bits
			summary |= 1 << w
		}
	}
	known.Store(summary)
	return summary
}

func (m *mail) any() bool { return m.summary.Load() != 0 }
