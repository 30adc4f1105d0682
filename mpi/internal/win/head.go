package win

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/platform/spin"
)

// A rank's memory of a window begins with a head, where ranks may reach that by loads and stores. It has the lock of
// accumulations, a word that says that somebody waits, and the counts of the notices of each rank.
const (
	line     = 64
	lockAt   = 0
	asleepAt = line
	countsAt = 2 * line
	// maxCounted is for how many ranks there are counts. More tell each other by messages.
	maxCounted = 1024
)

// noticeCounts counts the notices of one rank to another by their kinds, of which there are three. Four counts fill
// half a cache line. The sender alone adds to them, or the receiver alone where notices are messages.
type noticeCounts [4]atomic.Uint64

// headSize is the length of such a head in a window of n ranks, in bytes: whole cache lines.
func headSize(n int) int64 {
	if n > maxCounted {
		return countsAt
	}
	return (countsAt + int64(n)*int64(unsafe.Sizeof(noticeCounts{})) + line - 1) &^ (line - 1)
}

// mappedAt is the memory of a rank behind its head, which may lie elsewhere, in a window of n ranks.
func mappedAt(head, mem []byte, n int) mappedMemory {
	of := mappedMemory{
		mem: mem, lock: (*spin.Lock)(unsafe.Pointer(&head[lockAt])),
		asleep: (*atomic.Uint32)(unsafe.Pointer(&head[asleepAt])),
	}
	if n <= maxCounted {
		of.counts = unsafe.Slice((*noticeCounts)(unsafe.Pointer(&head[countsAt])), n)
	}
	return of
}
