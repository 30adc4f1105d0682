//go:build !race

package arch

import (
	"sync/atomic"
	"unsafe"
)

// amd64 keeps the order of stores, and so does the compiler. So a plain store is a release store. The word belongs to a
// typed atomic, so it is aligned.

// StoreRel32 stores v with release order. A reader that loads v from p also sees every earlier store of the caller.
func StoreRel32(p *atomic.Uint32, v uint32) { *(*uint32)(unsafe.Pointer(p)) = v }

// StoreRel64 is StoreRel32 for 64 bits.
func StoreRel64(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }
