package fult

import (
	"math/bits"
	"sync"
	"time"

	"github.com/golci/golci/internal/arch"
)

// ticksOf gives d in ticks, roughly. The clock of Go takes twice as long to read.
func ticksOf(d time.Duration) uint64 { return uint64(float64(d) * tickRate()) }

// tickRate is the number of ticks in a nanosecond. The first call takes 20 us.
var tickRate = sync.OnceValue(measureTicks)

// ticksTried bounds the looks at the clock of measureTicks. A look takes some 40 ns.
const ticksTried = 1 << 14

// measureTicks compares the ticks with the clock for 20 us. Under testing/synctest the clock stands still; then it
// takes one tick for a nanosecond.
func measureTicks() float64 {
	begun, first := time.Now(), arch.Ticks()
	for range ticksTried {
		if took := time.Since(begun); took >= 20*time.Microsecond {
			return float64(arch.Ticks()-first) / float64(took)
		}
	}
	return 1
}

// grant has the threads of the bits b run, and sets how many more may run before a poll. If threads compute for long it
// has fewer run, and returns the bits of the others. Only while all run is the word taken again, so that threads that
// yield all the time do not keep those of other words waiting. The clock is not looked at for a thread that runs alone
// and blocks: that is how a message is answered.
func (w *Worker) grant(b uint64) (rest uint64) {
	n := int32(bits.OnesCount64(b))
	w.budget = w.perPoll
	if w.perPoll < switchesPerPoll {
		for ; n > w.perPoll; n-- {
			high := uint64(1) << (bits.Len64(b) - 1)
			b, rest = b^high, rest|high
		}
		w.budget -= n
	}
	w.bits, w.granted = b, w.budget+n
	if n >= w.perPoll {
		w.begun = arch.Ticks()
	}
	return rest
}

// pace sets how many threads run before the next poll, by the time that those before this one took. It reports whether
// they took too long. The number falls at once, and rises by one each time.
func (w *Worker) pace() (late bool) {
	if w.begun == 0 {
		return false
	}
	w.perPoll, late = paced(w.perPoll, w.granted-w.budget, arch.Ticks()-w.begun, w.within)
	w.begun = 0
	return late
}

// paced gives the number of threads before a poll so that they take no longer than within. It is n now, and that many
// have run for some time.
func paced(n, ran int32, took, within uint64) (next int32, late bool) {
	if took <= within {
		return min(n+1, switchesPerPoll), false
	}
	return min(max(1, int32(uint64(ran)*within/took)), switchesPerPoll-1), true
}
