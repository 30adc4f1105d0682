package fult

import (
	"sync/atomic"
	"unsafe"
)

// The bit-vector of seed 3 with s1 = s2 = 8: a bit of level 2 stands for 8 words of level 1, one cache line.
const (
	wordBits        = 64
	groupWords      = 8
	groupSize       = wordBits * groupWords
	level2Words     = 8
	groupsPerWorker = level2Words * wordBits
)

// group is what one bit of level 2 stands for: 512 threads and their bits. It is allocated when the worker first needs
// it and is larger than the runtime's size classes, so it starts on a page and its lines are cache lines.
type group struct {
	// shared has the bits set by other goroutines: a signaller sets one (the Or publishes all its earlier stores), the
	// worker takes the word by exchange.
	shared [groupWords]atomic.Uint64
	// private has the bits set by the worker's own threads and poll functions. Owned by the worker.
	private [groupWords]uint64
	threads [groupSize]Thread
}

var _ [0]struct{} = [unsafe.Sizeof(Thread{}) - 128]struct{}{} // two cache lines: see Thread

// set2 is level 2, in two forms as level 1.
type set2 struct {
	shared  [level2Words]atomic.Uint64
	_       [falseSharing]byte
	private [level2Words]uint64
}

// raise makes t runnable, from anywhere. Level 1 first, then level 2: the worker takes them the other way round, so
// whichever bit it misses now it will see in the next pass. Level 1 is always written, even if the bit is set: the
// Or is also what orders the signaller's stores before the worker's taking of the bit. Level 2 need not be
// written if its bit is set, because the worker clears it before it looks at level 1, hence after this Or. For the
// first group it is never written: the worker looks at that group in any case, so a signal to one of a few hundred
// threads moves one cache line between cores, not two.
func (t *Thread) raise() {
	n := t.slot
	t.grp.shared[n/wordBits%groupWords].Or(1 << (n % wordBits))
	w := t.w
	w.at(betweenLevels)
	if n >= groupSize {
		level2 := &w.level2.shared[n/(groupSize*wordBits)]
		if bit := uint64(1) << (n / groupSize % wordBits); level2.Load()&bit == 0 {
			level2.Or(bit)
		}
	}
	w.at(beforeParkCheck)
	if w.parked.Load() != awake {
		w.wake()
	}
}

// raisePrivate makes t runnable; the caller runs on t's worker.
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

// take takes word i of level 1, both forms.
func (g *group) take(i int) uint64 {
	v := g.private[i]
	g.private[i] = 0
	if g.shared[i].Load() != 0 {
		v |= g.shared[i].Swap(0)
	}
	return v
}

// signalled says whether other goroutines have set bits of g.
func (g *group) signalled() bool {
	var v uint64
	for i := range g.shared {
		v |= g.shared[i].Load()
	}
	return v != 0
}
