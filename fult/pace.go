package fult

import (
	"math/bits"
	"sync"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// ticksOf gives d in ticks, roughly. The clock of Go takes twice as long to read.
func ticksOf(d time.Duration) uint64 { return uint64(float64(d) * tickRate()) }

// tickRate is the number of ticks in a nanosecond. The first call takes 100 us.
var tickRate = sync.OnceValue(func() float64 {
	begun := time.Now()
	return measureTicks(func() time.Duration { return time.Since(begun) }, arch.Ticks)
})

const (
	tickMeasures = 5
	ticksTried   = 1 << 14 // looks at the clock in a measure, at most; one takes some 40 ns
)

// measureTicks compares the ticks with the clock, five times for 20 us each. In each measure the ticks are read between
// the two reads of the clock. A pause of this thread so makes the rate lower, never higher, and the highest one counts.
// Under testing/synctest the clock stands still; then it takes one tick for a nanosecond.
func measureTicks(clock func() time.Duration, ticks func() uint64) float64 {
	rate := 0.
	for range tickMeasures {
		begun := clock()
		first := ticks()
		for tries := 0; ; tries++ {
			if tries == ticksTried {
				return 1
			}
			passed := ticks() - first
			if took := clock() - begun; took >= 20*time.Microsecond {
				rate = max(rate, float64(passed)/float64(took))
				break
			}
		}
	}
	return rate
}

// grantBits lets the threads of the bits b run, and sets how many more may run before a poll. If threads compute for
// long, it lets fewer run, and returns the bits of the others. Only while all run is the word taken again, so that
// threads that yield all the time do not keep those of other words waiting. The clock is not looked at for a thread
// that runs alone and blocks: that is how a message is answered.
func (w *Worker) grantBits(b uint64) (rest uint64) {
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

// setPace sets how many threads run before the next poll, by the time that those before this one took. It reports
// whether they took too long. The number falls at once, and rises by one each time.
func (w *Worker) setPace() (late bool) {
	if w.begun == 0 {
		return false
	}
	w.perPoll, late = pacedCount(w.perPoll, w.granted-w.budget, arch.Ticks()-w.begun, w.within)
	w.begun = 0
	return late
}

// pacedCount gives the number of threads before a poll so that they take no longer than within. It is n now, and that
// many have run for some time.
func pacedCount(n, ran int32, took, within uint64) (next int32, late bool) {
	if took <= within {
		return min(n+1, switchesPerPoll), false
	}
	return min(max(1, int32(uint64(ran)*within/took)), switchesPerPoll-1), true
}
