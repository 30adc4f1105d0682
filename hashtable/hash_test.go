package hashtable

import "testing"

// longest returns the largest number of keys(0..n-1) that share a bucket.
func longest(log2 uint8, n int, key func(i uint64) uint64) int {
	load := make([]uint16, 1<<log2)
	worst := 0
	for i := range uint64(n) {
		s := slotOf(key(i), log2) & (1<<log2 - 1)
		load[s]++
		worst = max(worst, int(load[s]))
	}
	return worst
}

// TestStrides puts as many keys as buckets into the table, with a power of two between neighbours. No bucket may need
// more than one overflow bucket.
func TestStrides(t *testing.T) {
	for _, log2 := range []uint8{9, 12, 16} {
		for k := uint8(0); k+log2 <= 64; k++ {
			if got := longest(log2, 1<<log2, func(i uint64) uint64 { return i << k }); got > 5 {
				t.Errorf("2^%d buckets, stride 2^%d: %d keys in a bucket", log2, k, got)
			}
		}
	}
}

// TestSourcesTimesTags does the same with the keys of a job: source<<28 | tag, some of each.
func TestSourcesTimesTags(t *testing.T) {
	const log2 = 16
	for bits := range uint(log2 + 1) {
		got := longest(log2, 1<<log2, func(i uint64) uint64 { return i>>bits<<28 | i&(1<<bits-1) })
		if got > 5 {
			t.Errorf("%d tags of each source: %d keys in a bucket", 1<<bits, got)
		}
	}
}

func TestNeighbours(t *testing.T) {
	for i := range uint64(1<<16 - 1) {
		if slotOf(i+1, 16)-slotOf(i, 16) != 1 {
			t.Fatalf("keys %d and %d are not neighbours", i, i+1)
		}
	}
}
