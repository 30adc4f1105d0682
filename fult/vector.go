package fult

import (
	"sync/atomic"
	"unsafe"
)

// Sizes of the bit-vector of the LCI paper, s1 = s2 = 8. A bit of level 2 is 8 words of level 1, a cache line.
const (
	wordBits        = 64
	groupWords      = 8
	groupSize       = wordBits * groupWords
	level2Words     = 8
	groupsPerWorker = level2Words * wordBits
)

// group holds 512 threads and their bits. One bit of level 2 stands for it. The worker allocates it when it first needs
// it. It is larger than the size classes of the runtime, so it starts on a page, and its lines are cache lines.
type group struct {
	// shared holds bits of other goroutines. An Or publishes earlier stores; the worker takes a word by exchange.
	shared [groupWords]atomic.Uint64
	// private holds the bits that the worker's own threads and poll functions set. Owned by the worker.
	private [groupWords]uint64
	threads [groupSize]Thread
}

var _ [0]struct{} = [unsafe.Sizeof(Thread{}) - 128]struct{}{} // two cache lines: see Thread

// set2 is level 2. It exists in two forms, as level 1 does.
type set2 struct {
	shared  [level2Words]atomic.Uint64
	_       [falseSharing]byte
	private [level2Words]uint64
}

// raiseThread makes t runnable. Any goroutine or thread may call it. It sets level 1 first, then level 2. The worker
// takes level 2 first, then level 1. So a bit that it misses now is there in its next pass.
//
// raise always writes level 1, even if the bit is set, because the Or also orders the caller's earlier stores before
// the worker's exchange. It leaves level 2 alone if that bit is set. The worker clears level 2 before it looks at level
// 1, so its look at level 1 comes after this Or. raise never writes level 2 for the first group, which the worker
// visits in every pass. So a signal to one of the first 512 threads moves one cache line, not two.
func (t *Thread) raiseThread() {
	n := t.slot
	t.grp.shared[n/wordBits%groupWords].Or(1 << (n % wordBits))
	w := t.w
	w.atHook(betweenLevels)
	if n >= groupSize {
		level2 := &w.level2.shared[n/(groupSize*wordBits)]
		if bit := uint64(1) << (n / groupSize % wordBits); level2.Load()&bit == 0 {
			level2.Or(bit)
		}
	}
	w.atHook(beforeParkCheck)
	if w.parked.Load() != awake {
		w.wakeWorker()
	}
}

// raisePrivate makes t runnable. The caller runs on the worker of t.
func (t *Thread) raisePrivate() {
	n := t.slot
	t.grp.private[n/wordBits%groupWords] |= 1 << (n % wordBits)
	t.w.level2.private[n/(groupSize*wordBits)] |= 1 << (n / groupSize % wordBits)
}

// take2 takes word i of level 2, both forms. The bit of the first group is always in it.
func (s *set2) take2(i int) uint64 {
	v := s.private[i]
	s.private[i] = 0
	if i == 0 {
		v |= 1
	}
	if s.shared[i].Load() != 0 {
		v |= s.shared[i].Swap(0)
	}
	return v
}

// takeWord takes word i of level 1, both forms.
func (g *group) takeWord(i int) uint64 {
	v := g.private[i]
	g.private[i] = 0
	if g.shared[i].Load() != 0 {
		v |= g.shared[i].Swap(0)
	}
	return v
}

// hasSignals tells whether other goroutines have set bits of g.
func (g *group) hasSignals() bool {
	var v uint64
	for i := range g.shared {
		v |= g.shared[i].Load()
	}
	return v != 0
}
