//go:build !race

package arch

import (
	"unsafe"

	"github.com/klauspost/cpuid/v2"
)

// enhanced tells that the processor moves strings in whole lines (ERMS). Fixed.
var enhanced = cpuid.CPU.Supports(cpuid.ERMS)

// CopyOut copies as copy does, and returns how many bytes. It is for memory that another core has read and will read
// next. The stores of copy fetch each such line from that core first. From LongCopy bytes on, a string instruction
// takes whole lines without their contents. dst and src do not overlap.
//
// A release store after CopyOut publishes the bytes. Intel's processors may make the stores of one string instruction
// visible in any order among themselves. None of them comes after a later store (SDM volume 3A, "Fast-String Operation
// and Out-of-Order Stores"). AMD's write out of order only by streaming stores and to write-combining memory (APM
// volume 2, "Write Ordering").
func CopyOut(dst, src []byte) int {
	n := min(len(dst), len(src))
	if n < LongCopy || !enhanced {
		return copy(dst, src)
	}
	head := int(-uintptr(unsafe.Pointer(&dst[0])) % line)
	copy(dst[:head], src)
	whole := (n - head) &^ (line - 1)
	moveString(unsafe.Pointer(&dst[head]), unsafe.Pointer(&src[head]), whole)
	copy(dst[head+whole:n], src[head+whole:])
	return n
}

const line = 64

//go:noescape
func moveString(dst, src unsafe.Pointer, n int)
