//go:build !race

package arch

import (
	"sync/atomic"
	"unsafe"
)

// amd64 orders stores among themselves, and the compiler keeps them in program order, so a plain store is a release
// store. It is a word that other code reads through its typed atomic, hence aligned.

// StoreRel32 stores v with release order: every earlier store of the caller is visible to whoever loads v from p.
func StoreRel32(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// StoreRel64 is StoreRel32 for 64 bits.
func StoreRel64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }
