package shmcoll

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"go.uber.org/goleak"

	"github.com/golci/golci/internal/platform/arch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is zeroed, aligned memory for a shared segment.
func memory(ranks int) []byte {
	words := make([]uint64, Size(ranks)/8+line/8)
	b := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)
	at := -uintptr(unsafe.Pointer(&b[0])) & (line - 1)
	return b[at:][:Size(ranks)]
}

// TestPlacesAreApart: all words and places of all ranks lie in the memory, none in another one, and heads at lines.
func TestPlacesAreApart(t *testing.T) {
	for _, ranks := range []int{1, 2, 3, 8, 9, MaxRanks} {
		mem := memory(ranks)
		b := New(mem, ranks, 0, true)
		owner := make([]int, len(mem))
		claimed := 0
		claim := func(what string, p unsafe.Pointer, n int) {
			claimed++
			at := int(uintptr(p) - uintptr(unsafe.Pointer(&mem[0])))
			if at < 0 || at+n > len(mem) {
				t.Fatalf("%d ranks: %s lies at %d, the memory has %d bytes", ranks, what, at, len(mem))
			}
			for i := at; i < at+n; i++ {
				if owner[i] != 0 {
					t.Fatalf("%d ranks: %s lies in claim %d", ranks, what, owner[i])
				}
				owner[i] = claimed
			}
		}
		claim("Sleepers", unsafe.Pointer(b.Sleepers(AwaitsData)), 8)
		claim("Sleepers", unsafe.Pointer(b.Sleepers(AwaitsDone)), 8)
		claim("arrived", unsafe.Pointer(b.arrivedWord()), 8)
		claim("Released", unsafe.Pointer(b.Released()), 8)
		for call := range uint64(Calls) {
			claim("Result", unsafe.Pointer(&b.Result(call, Short)[0]), Short)
		}
		for r := range ranks {
			claim("Done", unsafe.Pointer(b.Done(r)), 8)
			for from := range ranks {
				claim("Taken", unsafe.Pointer(b.Taken(r, from)), 8)
			}
			for call := range uint64(Calls) {
				claimPlace(t, claim, b.Short(r, call), Short)
			}
			for i := range uint64(Chunks) {
				claimPlace(t, claim, b.Chunk(r, i), ChunkBytes)
			}
			if b.Short(r, 3) != b.Short(r, 3+Calls) || b.Chunk(r, 1) != b.Chunk(r, 1+Chunks) {
				t.Errorf("%d ranks: places are not used again", ranks)
			}
		}
	}
}

func claimPlace(t *testing.T, claim func(string, unsafe.Pointer, int), p Slot, most int) {
	if uintptr(unsafe.Pointer(p.h))%line != 0 {
		t.Fatalf("a head lies at %p", p.h)
	}
	claim("a head", unsafe.Pointer(p.h), line)
	claim("a place", unsafe.Pointer(&p.Bytes(most)[0]), most)
	few := p.Bytes(Inline)
	if at := uintptr(unsafe.Pointer(&few[0])) - uintptr(unsafe.Pointer(p.h)); at < 24 || at+Inline > line {
		t.Fatalf("few bytes lie %d bytes behind a head", at)
	}
}

// TestAbout: a tag and a length come back.
func TestAbout(t *testing.T) {
	for _, tag := range []int{0, 1, 1<<tagBits - 1} {
		for _, n := range []int{0, 1, Inline, ChunkBytes, 1 << 35} {
			if a := About(tag, n); Tag(a) != tag || Len(a) != n {
				t.Errorf("tag %d and length %d come back as %d and %d", tag, n, Tag(a), Len(a))
			}
		}
	}
	if Seq(5, maxChunk) >= Seq(6, 0) || Seq(5, 1) <= Seq(5, 0) {
		t.Error("sequence numbers are out of order")
	}
}

// TestPublish: who sees the number of a contribution sees its bytes, in both kinds of publication. One of two ranks
// writes rounds of bytes, and the other one reads them and says that it has done with them.
func TestPublish(t *testing.T) {
	const rounds = 3000
	for _, fenced := range []bool{true, false} {
		mem := memory(2)
		writer, reader := New(mem, 2, 0, fenced), New(mem, 2, 1, fenced)
		done := make(chan struct{})
		go func() {
			defer close(done)
			for call := range uint64(rounds) {
				p := writer.Short(0, call)
				for call >= Calls && writer.Done(1).Load() <= call-Calls {
					arch.Pause()
				}
				for i := range p.Bytes(100) {
					p.Bytes(100)[i] = byte(call)
				}
				if writer.Publish(p, Seq(call+1, 0), About(int(call), 100), 7) != 0 {
					t.Error("somebody sleeps")
				}
			}
		}()
		for call := range uint64(rounds) {
			p := reader.Short(0, call)
			for p.Seq().Load() != Seq(call+1, 0) {
				arch.Pause()
			}
			for i, got := range p.Bytes(100) {
				if got != byte(call) {
					t.Fatalf("call %d: byte %d is %d", call, i, got)
				}
			}
			if p.About() != About(int(call), 100) || p.Seal() != 7 {
				t.Fatalf("call %d: it is of %#x, shape %d", call, p.About(), p.Seal())
			}
			reader.SetDone(call + 1)
		}
		<-done
	}
}

// TestSleepers: who sets a word learns which other ranks may be asleep and wait for such words.
func TestSleepers(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		b := New(memory(4), 4, 1, fenced)
		b.Sleepers(AwaitsData).Or(0b0011)
		b.Sleepers(AwaitsDone).Or(0b1110)
		if got := b.Set(b.Taken(1, 0), 1); got != 0b0001 {
			t.Errorf("%b may be asleep and wait for data", got)
		}
		if got := b.Publish(b.Short(1, 0), Seq(1, 0), About(1, 0), 0); got != 0b0001 {
			t.Errorf("%b may be asleep and wait for a contribution", got)
		}
		if got := b.SetDone(1); got != 0b1100 {
			t.Errorf("%b may be asleep and wait for Done", got)
		}
	}
}

// TestArrive: ranks are counted in each call, and the last one learns that it is the last. Who comes to a call when
// others have arrived in a later one learns that the count is lost.
func TestArrive(t *testing.T) {
	const ranks, calls = 4, 5000
	mem := memory(ranks)
	var lasts [calls]atomic.Int32
	var wg sync.WaitGroup
	for r := range ranks {
		wg.Go(func() {
			b := New(mem, ranks, r, true)
			for call := range uint64(calls) {
				if n := b.Arrive(call + 1); n == ranks {
					lasts[call].Add(1)
					b.Set(b.Released(), call+1)
				} else if n == 0 {
					t.Errorf("call %d: the count of rank %d is lost", call+1, r)
				}
				for b.Released().Load() < call+1 {
					runtime.Gosched()
				}
			}
		})
	}
	wg.Wait()
	for call := range lasts {
		if n := lasts[call].Load(); n != 1 {
			t.Errorf("call %d: %d ranks were the last", call+1, n)
		}
	}
	b := New(mem, ranks, 0, true)
	for i, c := range []struct{ call, want uint64 }{{calls + 2, 1}, {calls + 1, 0}, {calls + 2, 2}, {calls + 3, 1}} {
		if n := b.Arrive(c.call); n != int(c.want) {
			t.Errorf("%d: %d have arrived in call %d, want %d", i, n, c.call, c.want)
		}
	}
}
