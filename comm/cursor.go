package comm

import (
	"fmt"
)

// The data of a message are contiguous bytes, or what a cursor packs and unpacks: a Source at its sender, a Target at
// its receiver. The two ends of a message choose apart from each other. The bytes on the way are the same.

// Source is data to send that do not lie in one piece of memory. One operation makes one call at a time. Several
// operations may have one Source. Its methods must not block, panic, or call the server: Pack runs under the lock of a
// pair of ranks, on the caller's goroutine or inside a poll of another one.
type Source interface {
	// Len is the number of bytes of the message. It stays the same until the operation is done.
	Len() int
	// Pack writes the bytes of the message from offset off on to dst, and fills dst, which does not go beyond Len. It
	// must not keep dst. Offsets are of any alignment. Each byte is packed once; those of a send that End leaves may
	// be packed once more.
	Pack(dst []byte, off int)
}

// Target is a receive buffer that does not lie in one piece of memory. What holds for a Source holds here.
type Target interface {
	// Len is the number of bytes for which there is room. It stays the same until the operation is done.
	Len() int
	// Unpack takes src, the bytes of the message from offset off on, which do not go beyond Len. It must not keep src.
	// The pieces of a large message come in any length, at offsets of any alignment, over some conduits in any order.
	// Each byte comes once.
	Unpack(src []byte, off int)
}

// badCursor is the error of a cursor whose length is negative.
func (s *Server) badCursor(what string, peer, tag, size int) error {
	return fmt.Errorf("%w: rank %d: %s with rank %d, tag %d: a cursor over %d bytes", ErrBuffer, s.rank, what, peer, tag, size)
}

// cursor is the Source of a send or the Target of a receive. One field of the op holds either, so that ops of
// contiguous messages are not longer for both.
type cursor interface{ Len() int }
