// Package crossing measures a limit of the hardware: the time of a cache line from core to core. Every benchmark row
// carries it, because a virtual machine's host may move its cores between placements that differ several times over.
package crossing

import (
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/golci/golci/internal/platform/arch"
)

// Lines is the memory of one measurement: two mailbox lines, each written by one side only. The zero value is ready.
// It may lie in memory that two processes map. The layout is that of the C programs in bench/peers.
type Lines struct {
	there atomic.Uint64 // written by Lead; 128 bytes apart because cores fetch lines in pairs
	_     [120]byte
	back  atomic.Uint64 // written by Follow
	_     [120]byte
}

const (
	batches   = 7
	trips     = 500
	limit     = 50 * time.Millisecond
	stop      = 1 << 63
	checkMask = 15      // the clock is read at every sixteenth trip
	patience  = 1 << 14 // spins before the other side is given this core
)

// Lead measures against one Follow on the same lines, which another thread or process runs at the same time. It
// returns the median over batches of round trips, halved, in ns; 0 when not one batch came back within 50 ms. It spins,
// and stays on the calling thread, which should be locked and pinned.
func Lead(l *Lines) float64 {
	took := make([]float64, 0, batches)
	seq := l.back.Load() &^ stop
	start := time.Now()
	for len(took) < batches && time.Since(start) < limit {
		var n int
		began := time.Now()
		for n = 0; n < trips && (n&checkMask != checkMask || time.Since(start) < limit); n++ {
			seq++
			l.trip(seq)
		}
		took = append(took, float64(time.Since(began).Nanoseconds())/float64(2*n))
	}
	l.trip((seq + 1) | stop)
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[len(took)/2]
}

func (l *Lines) trip(v uint64) {
	arch.StoreRel64(&l.there, v)
	for n := 0; l.back.Load() != v; n++ {
		relax(n)
	}
}

// Follow answers one Lead and returns when that is done. It spins.
func Follow(l *Lines) {
	last := l.back.Load()
	for {
		v := l.there.Load()
		for n := 0; v == last; n++ {
			relax(n)
			v = l.there.Load()
		}
		arch.StoreRel64(&l.back, v)
		if v&stop != 0 {
			return
		}
		last = v
	}
}

func relax(n int) {
	if n < patience {
		arch.Pause()
		return
	}
	runtime.Gosched()
}
