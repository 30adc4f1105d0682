package taskbench

import (
	"encoding/binary"
	"math/bits"
)

// uniform is a number from 0 to 1 that depends on words alone. It is the one of Task Bench: the SipHash-2-4 of the
// words as 64 bits each, under the key 1, 2 to 15, 0.
func uniform(words ...int) float64 {
	return float64(sipHash(words)) * 0x1p-64
}

// sipHashKey is the key of Task Bench.
var sipHashKey = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0}

// sip is the state of SipHash (Aumasson and Bernstein, 2012).
type sip struct{ v0, v1, v2, v3 uint64 }

func sipHash(words []int) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(sipHashKey[:]), binary.LittleEndian.Uint64(sipHashKey[8:])
	s := sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	for _, w := range words {
		s.compress(uint64(w))
	}
	s.compress(uint64(8*len(words)) << 56)
	s.v2 ^= 0xff
	for range 4 {
		s.round()
	}
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3
}

func (s *sip) compress(m uint64) {
	s.v3 ^= m
	s.round()
	s.round()
	s.v0 ^= m
}

func (s *sip) round() {
	s.v0 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 13) ^ s.v0
	s.v0 = bits.RotateLeft64(s.v0, 32)
	s.v2 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 16) ^ s.v2
	s.v0 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 21) ^ s.v0
	s.v2 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 17) ^ s.v2
	s.v2 = bits.RotateLeft64(s.v2, 32)
}
