package win

import (
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/internal/spin"
)

// What a rank's memory of a window begins with, where ranks may reach that by loads and stores: the lock of
// accumulations, a word that says that somebody waits, and the counts of what each rank has told this one.
const (
	line     = 64
	lockAt   = 0
	asleepAt = line
	toldAt   = 2 * line
	// maxTold is for how many ranks there are counts. More tell each other by messages.
	maxTold = 1024
)

// told counts what one rank has told another, by the kinds of notice that are counted. Only the former adds to the
// counts, or the latter does when it has the message.
type told [4]atomic.Uint64

// headSize is how long it is in a window of n ranks, in bytes: whole cache lines.
func headSize(n int) int64 {
	if n > maxTold {
		return toldAt
	}
	return (toldAt + int64(n)*int64(unsafe.Sizeof(told{})) + line - 1) &^ (line - 1)
}

// nearAt is the memory of a rank behind its head, which may lie elsewhere, in a window of n ranks.
func nearAt(head, mem []byte, n int) near {
	of := near{
		mem: mem, lock: (*spin.Lock)(unsafe.Pointer(&head[lockAt])),
		asleep: (*atomic.Uint32)(unsafe.Pointer(&head[asleepAt])),
	}
	if n <= maxTold {
		of.told = unsafe.Slice((*told)(unsafe.Pointer(&head[toldAt])), n)
	}
	return of
}
