package am

import (
	"encoding/binary"
	"unsafe"

	"github.com/golci/golci/comm/credit"
)

// A record is
//
//	word 0   length in bytes (32) | handler (8) | flags (8) | arguments (8) | 0 (8)
//	word 1   credits: E, need, cost (16) | sequence (16) | credits returned, cumulative (32)
//	arguments, 8 bytes each
//	payload
//
// Word 0 is what the conduit publishes last. The length counts both words and is not rounded.
const (
	headerBytes = 16
	argBytes    = 8
)

// MaxArgs is the largest number of arguments of an active message.
const MaxArgs = 16

// flags of word 0.
const (
	flagMedium   = 1 << 0 // carries a payload in the record
	flagLong     = 1 << 1 // the payload goes to the segment: in the record (flagMedium too), or by bulk transfer
	flagReply    = 1 << 2
	flagOrdered  = 1 << 3 // takes a number of the pair's sequence
	flagThrottle = 1 << 4 // no more unmatched eager bytes, please
	flagAnswer   = 1 << 5 // the sender has reserved room for a reply
)

type header struct {
	length  int
	handler uint8
	flags   uint8
	nargs   int
	cost    int
	seq     uint16
	told    uint32
}

func word0(length int, handler, flags uint8, nargs int) uint64 {
	return uint64(uint32(length)) | uint64(handler)<<32 | uint64(flags)<<40 | uint64(nargs)<<48
}

// word1 has the 16 bits of E (top), need (7) and cost (8) lowest. E and need serve credits that migrate and are zero
// while loans are static.
func word1(cost int, seq uint16, told uint32) uint64 {
	return uint64(uint8(cost)) | uint64(seq)<<16 | uint64(told)<<32
}

// parse reads the header of a record that a peer wrote; ok is false if it contradicts itself.
func parse(rec []byte) (h header, ok bool) {
	if len(rec) < headerBytes {
		return h, false
	}
	w0 := binary.LittleEndian.Uint64(rec)
	w1 := binary.LittleEndian.Uint64(rec[8:])
	h.length = int(uint32(w0))
	h.handler = uint8(w0 >> 32)
	h.flags = uint8(w0 >> 40)
	h.nargs = int(uint8(w0 >> 48))
	h.cost = int(uint8(w1))
	h.seq = uint16(w1 >> 16)
	h.told = uint32(w1 >> 32)
	ok = h.length <= len(rec) && h.nargs <= MaxArgs && h.length >= headerBytes+h.nargs*argBytes
	if ok && h.flags&flagReply == 0 {
		ok = h.cost == credit.Cost(h.length) || h.cost == 0
	}
	return h, ok
}

// args views the arguments of a record in place. Records are 8-byte aligned.
func args(rec []byte, n int) []uint64 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&rec[headerBytes])), n)
}
