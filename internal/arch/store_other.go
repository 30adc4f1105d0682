//go:build race || !amd64

package arch

import "sync/atomic"

// StoreRel32 stores v with release order: every earlier store of the caller is visible to whoever loads v from p.
func StoreRel32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRel64 is StoreRel32 for 64 bits.
func StoreRel64(p *atomic.Uint64, v uint64) { p.Store(v) }
