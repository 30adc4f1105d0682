package seal

const (
	// windowSize is how far, in numbers, a datagram may lie behind the newest one of its sender and still be taken.
	windowSize = windowWords*64 - 64

	windowWords = 64
)

// window remembers which of the newest numbers have come: a ring of words that is never shifted (RFC 6479). The word
// that the newest number lies in is partly of its future, hence windowSize is one word less than the ring.
type window struct {
	top  uint64 // newest number that came
	some bool   // one has come
	bits [windowWords]uint64
}

func place(number uint64) (word int, bit uint64) {
	return int(number / 64 % windowWords), 1 << (number % 64)
}

// verdict says whether number may be taken: Opened, Replayed or Old. It changes nothing, so it can be asked before the
// datagram is known to be authentic.
func (w *window) verdict(number uint64) Verdict {
	if !w.some || number > w.top {
		return Opened
	}
	if w.top-number >= windowSize {
		return Old
	}
	word, bit := place(number)
	if w.bits[word]&bit != 0 {
		return Replayed
	}
	return Opened
}

// markTaken marks number, for which verdict was Opened, as come.
func (w *window) markTaken(number uint64) {
	if !w.some {
		w.some, w.top = true, number
	} else if number > w.top {
		w.clearWords(number)
	}
	word, bit := place(number)
	w.bits[word] |= bit
}

// clearWords clears the words that the window moves into.
func (w *window) clearWords(number uint64) {
	steps := min(number/64-w.top/64, windowWords)
	for i := range steps {
		w.bits[(w.top/64+1+i)%windowWords] = 0
	}
	w.top = number
}
