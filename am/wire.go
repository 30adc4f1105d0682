package am

import (
	"encoding/binary"
	"unsafe"

	"github.com/golci/golci/internal/transport/credit"
)

// A record is
//
//	word 0   length in bytes (32) | handler (8) | flags (8) | arguments (8) | free (8), see Mark
//	word 1   credits: E, need, cost (16) | sequence (16) | note of credits returned and granted (32)
//	arguments, 8 bytes each
//	payload
//
// Word 0 is what the conduit publishes last. The length counts both words and is not rounded.
const (
	headerBytes = 16
	argBytes    = 8
)

const MaxArgs = 16 // of an active message

// flags of word 0.
const (
	flagMedium   = 1 << 0 // carries a payload in the record
	flagLong     = 1 << 1 // the payload goes to the segment: in the record (flagMedium too), or by bulk transfer
	flagReply    = 1 << 2
	flagOrdered  = 1 << 3 // takes a number of the pair's sequence
	flagThrottle = 1 << 4 // no more unmatched eager bytes, please
	flagAnswer   = 1 << 5 // the sender has reserved room for a reply
)

// header is the two words, taken apart where they are needed: a struct of their fields would be copied through memory.
type header struct{ w0, w1 uint64 }

func (h header) length() int    { return int(uint32(h.w0)) }
func (h header) handler() uint8 { return uint8(h.w0 >> 32) }
func (h header) flags() uint8   { return uint8(h.w0 >> 40) }
func (h header) nargs() int     { return int(uint8(h.w0 >> 48)) }
func (h header) asks() bool     { return h.w1&0xff00 != 0 } // E or need

// cost is what the record takes, 0 if it costs nothing.
func (h header) cost() int {
	c := int(uint8(h.w1))
	if c == credit.Long {
		c = max(c, credit.Cost(h.length()))
	}
	return c
}

func (h header) credits() credit.Fields { return credit.Fields(h.w1) }

func (h header) seq() uint16         { return uint16(h.w1 >> 16) }
func (h header) toldCredits() uint32 { return uint32(h.w1 >> 32) }

const markShift = 56

// Mark puts m into the first word of a record that a wrapper of the conduit passes on. The bits are free, and nobody
// but such a wrapper looks at them.
func Mark(first uint64, m uint8) uint64 { return first&^(0xff<<markShift) | uint64(m)<<markShift }

// Marked gives what Mark has put into a record, whose handler has the index h.
func Marked(rec []byte) (m, h uint8) {
	return rec[markShift/8], HandlerOf(binary.LittleEndian.Uint64(rec))
}

// HandlerOf is the index of the handler that a record is for, of its first word.
func HandlerOf(first uint64) uint8 { return header{w0: first}.handler() }

func word0(length int, handler, flags uint8, nargs int) uint64 {
	return uint64(uint32(length)) | uint64(handler)<<32 | uint64(flags)<<40 | uint64(nargs)<<48
}

// word1 has the 16 bits of E (top), need (7) and cost (8) lowest.
func word1(f credit.Fields, seq uint16, told uint32) uint64 {
	return uint64(f) | uint64(seq)<<16 | uint64(told)<<32
}

// parseHeader reads the header of a record that a peer wrote; ok is false if it contradicts itself.
func parseHeader(rec []byte) (h header, ok bool) {
	if len(rec) < headerBytes {
		return h, false
	}
	h = header{binary.LittleEndian.Uint64(rec), binary.LittleEndian.Uint64(rec[8:])}
	length, nargs := h.length(), h.nargs()
	ok = length <= len(rec) && nargs <= MaxArgs && length >= headerBytes+nargs*argBytes
	if ok && h.flags()&flagReply == 0 {
		ok = h.cost() == credit.Cost(length) || h.cost() == 0
	}
	return h, ok
}

// argsOf views the arguments of a record in place. Records are 8-byte aligned.
func argsOf(rec []byte, n int) []uint64 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&rec[headerBytes])), n)
}
