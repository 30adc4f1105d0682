// Package crc32c computes CRC-32C as hash/crc32 does with the Castagnoli polynomial, and faster where the processor
// multiplies polynomials of 64 bits four at a time (VPCLMULQDQ with AVX-512).
package crc32c

import "hash/crc32"

// least is from how many bytes on there may be a quicker form than that of hash/crc32: it takes 150 ns to begin and
// end.
const least = 8192

var table = crc32.MakeTable(crc32.Castagnoli)

// Update adds the bytes of b to the checksum crc, 0 at the start, as crc32.Update does. It does not block.
func Update(crc uint32, b []byte) uint32 {
	crc, b = updateLong(crc, b)
	return crc32.Update(crc, table, b)
}
