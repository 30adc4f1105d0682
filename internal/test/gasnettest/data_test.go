package gasnettest

import (
	"encoding/binary"
	"hash/crc32"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum covers the arguments and the payload of a message.
func sum(args []uint64, payload []byte) uint64 {
	var b [8]byte
	s := uint32(len(args))
	for _, a := range args {
		binary.LittleEndian.PutUint64(b[:], a)
		s = crc32.Update(s, castagnoli, b[:])
	}
	return uint64(crc32.Update(s, castagnoli, payload))
}

// fill makes p the bytes that follow from seed.
func fill(p []byte, seed uint64) []byte {
	x := seed*0x9e3779b97f4a7c15 + 0x1234567
	i := 0
	for ; i+8 <= len(p); i += 8 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		binary.LittleEndian.PutUint64(p[i:], x)
	}
	for ; i < len(p); i++ {
		x = x*6364136223846793005 + 1442695040888963407
		p[i] = byte(x >> 56)
	}
	return p
}
