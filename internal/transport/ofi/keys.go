//go:build ofi && linux && (amd64 || arm64)

package ofi

import (
	"encoding/binary"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/platform/crc32c"
)

// keyOf makes the Key of memory at base, as operations of peers name it, and of that size, whose key in the library is
// rkey. It holds a checksum, so that a key that was made up is found before it reaches a card. A card's key that does
// not fit 32 bits takes the place of the base, which is then 0. ok is false if there is one.
func keyOf(rkey, base uint64, size int64) (k conduit.Key, ok bool) {
	k = conduit.Key{ID: rkey << 32, Base: base, Size: size}
	if rkey>>32 != 0 {
		k.ID, k.Base = 0, rkey
		if base != 0 {
			return conduit.Key{}, false
		}
		k.ID = 1 << 31
	}
	k.ID |= uint64(keySum(k))
	return k, true
}

// openKey is the reverse of keyOf; false for what keyOf has not made.
func openKey(k conduit.Key) (rkey, base uint64, ok bool) {
	if uint32(k.ID)&^(1<<31) != keySum(k) || k.Size <= 0 {
		return 0, 0, false
	}
	if k.ID&(1<<31) != 0 {
		return k.Base, 0, k.ID>>32 == 0
	}
	return k.ID >> 32, k.Base, true
}

// keySum is the checksum of 31 bits of all but the sum itself. It is never 0, and so is no ID.
func keySum(k conduit.Key) uint32 {
	var b [24]byte
	binary.LittleEndian.PutUint64(b[:], k.ID>>31<<31)
	binary.LittleEndian.PutUint64(b[8:], k.Base)
	binary.LittleEndian.PutUint64(b[16:], uint64(k.Size))
	return max(crc32c.Update(0, b[:])&^(1<<31), 1)
}
