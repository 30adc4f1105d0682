//go:build race || !amd64

package arch

import "sync/atomic"

// StoreRel32 stores v with release order. A reader that loads v from p also sees every earlier store of the caller.
func StoreRel32(p *atomic.Uint32, v uint32) { p.Store(v) }

// StoreRel64 is StoreRel32 for 64 bits.
func StoreRel64(p *atomic.Uint64, v uint64) { p.Store(v) }
