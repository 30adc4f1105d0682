//go:build !race

package arch

import "sync/atomic"

// StoreRel32 stores v with release order: every earlier store of the caller is visible to whoever loads v from p.
//
//go:noescape
func StoreRel32(p *atomic.Uint32, v uint32)

// StoreRel64 is StoreRel32 for 64 bits.
//
//go:noescape
func StoreRel64(p *atomic.Uint64, v uint64)
