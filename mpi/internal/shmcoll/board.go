package shmcoll

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/platform/arch"
)

// Seq is the sequence number of chunk i of a call, at most maxChunk. A short contribution has that of chunk 0.
func Seq(call, i uint64) uint64 { return call<<seqBits | i }

const (
	seqBits  = 24
	maxChunk = 1<<seqBits - 1
)

// About says what a contribution belongs to: the tag of its call, and its length.
func About(tag, n int) uint64 { return uint64(n)<<tagBits | uint64(tag) }

// Tag and Len are the two parts of what About gives.
func Tag(about uint64) int { return int(about & (1<<tagBits - 1)) }

// Len is the length in an About.
func Len(about uint64) int { return int(about >> tagBits) }

const tagBits = 28

// Slot is where a contribution lies, of the rank itself or of another one.
type Slot struct{ h *head }

// Short is the place of a rank for a contribution of up to Short bytes.
func (b *Segment) Short(rank int, call uint64) Slot { return Slot{b.shortAt(rank, call)} }

// Chunk is the place of a rank for chunk i of a long contribution.
func (b *Segment) Chunk(rank int, i uint64) Slot { return Slot{b.chunkAt(rank, i)} }

// Seq is the word to look at: it holds at least the Seq of the contribution once that is there.
func (p Slot) Seq() *atomic.Uint64 { return &p.h.seq }

// About is what the contribution belongs to, and Seal a word that is equal on ranks that have called the same. They may
// be read when Seq is there.
func (p Slot) About() uint64 { return p.h.about }

// Seal is what Publish was given.
func (p Slot) Seal() uint64 { return p.h.seal }

// Bytes are the n bytes of a contribution that has n of them in all.
func (p Slot) Bytes(n int) []byte {
	if n <= Inline {
		return p.h.inline[:n]
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p.h), line)), n)
}

// Publish shows all ranks what lies in a place of the rank itself, and returns the ranks that may be asleep.
func (b *Segment) Publish(p Slot, seq, about, seal uint64) (asleep uint64) {
	p.h.about, p.h.seal = about, seal
	return b.Set(&p.h.seq, seq)
}

// Awaited says for which words a rank waits. A rank that sets one wakes only those that wait for its kind.
type Awaited uintptr

const (
	AwaitsData Awaited = iota // all words but Done
	AwaitsDone                // Done
)

// Set sets a word of the rank itself, other than Done, or Released. All that the rank has written before is there then.
// It returns the ranks that may be asleep and wait for such words.
func (b *Segment) Set(word *atomic.Uint64, v uint64) (asleep uint64) {
	b.store(word, v)
	return b.Sleepers(AwaitsData).Load() &^ (1 << b.self)
}

// SetDone sets Done of the rank itself. It returns the ranks that may be asleep and wait for Done of some rank.
func (b *Segment) SetDone(v uint64) (asleep uint64) {
	b.store(b.Done(b.self), v)
	return b.Sleepers(AwaitsDone).Load() &^ (1 << b.self)
}

// store comes after all that this rank has written, and before it looks for sleepers.
func (b *Segment) store(word *atomic.Uint64, v uint64) {
	if b.fenced {
		arch.StoreRel64(word, v)
	} else {
		word.Store(v)
	}
}

// Arrive counts this rank in a call, and returns how many ranks have arrived in it. It returns 0 if a rank has arrived
// in a later call: then nobody can count on the number.
func (b *Segment) Arrive(call uint64) int {
	for w := b.arrivedWord(); ; {
		old := w.Load()
		next := call<<countBits | 1
		switch last := old >> countBits; {
		case last > call:
			return 0
		case last == call:
			next = old + 1
		}
		if w.CompareAndSwap(old, next) {
			return int(next & (1<<countBits - 1))
		}
	}
}

const countBits = 8
