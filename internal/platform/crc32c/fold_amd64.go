//go:build !purego

package crc32c

import (
	"hash/crc32"
	"math/bits"

	"github.com/klauspost/cpuid/v2"
)

// canFold tells that the processor and the system have what fold takes. Fixed.
var canFold = cpuid.CPU.Supports(cpuid.AVX512F, cpuid.VPCLMULQDQ)

const block = 256 // bytes that fold has in registers: four of 512 bits

// updateLong is Update of whole blocks. It returns the checksum with them, and the bytes that are left.
//
// A message is a polynomial over GF(2), and its checksum the remainder by the polynomial of the CRC. So 16 bytes of it
// may be replaced by anything that has the same remainder. Folding replaces each 16 bytes by 16 bytes a block later,
// which are added there (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction",
// Intel 2009). What remains is one block, whose checksum is that of all.
func updateLong(crc uint32, b []byte) (uint32, []byte) {
	if len(b) < least || !canFold {
		return crc, b
	}
	var acc [block]byte
	n := len(b) / block
	fold(&acc, ^crc, &b[0], n, &factors)
	// The state has gone into the block, so its checksum begins with a state of 0, which crc32 keeps inverted.
	return crc32.Update(^uint32(0), table, acc[:]), b[n*block:]
}

// factors multiply the two halves of 16 bytes by x to the number of bits in a block. The multiplication of reversed
// polynomials of 64 bits adds a factor x^32 where the one is a remainder of 32 bits, shifted by one. The first half
// stands for the higher powers.
var factors = [2]uint64{factorOf(8*block + 32), factorOf(8*block - 32)}

// factorOf is x^n modulo the polynomial, with its bits reversed and shifted by one.
func factorOf(n int) uint64 {
	const poly = 0x1EDC6F41 // without x^32
	r := uint32(1)
	for range n {
		carry := r >> 31
		r = r<<1 ^ carry*poly
	}
	return uint64(bits.Reverse32(r)) << 1
}

// fold folds the n blocks at p, at least one, into acc, a block with the same remainder as they have with the state of
// the checksum before them.
//
//go:noescape
func fold(acc *[block]byte, state uint32, p *byte, n int, factors *[2]uint64)
