package hashtable

import (
	"math/rand/v2"
	"testing"
)

// benchKeys posts all keys, then matches all, over and over.
func benchKeys(b *testing.B, keys []uint64) {
	tab := newTable(b, 1<<16)
	posts, arrivals := make([]Node[int], len(keys)), make([]Node[int], len(keys))
	b.ResetTimer()
	for i := 0; i < b.N; i += 2 * len(keys) {
		for j, k := range keys {
			tab.InsertOrMatch(k, &posts[j], Post)
		}
		for j, k := range keys {
			tab.InsertOrMatch(k, &arrivals[j], Arrive)
		}
	}
}

// BenchmarkDistinct has each key in a bucket of its own.
func BenchmarkDistinct(b *testing.B) {
	keys := make([]uint64, 1024)
	for i := range keys {
		keys[i] = uint64(i)
	}
	benchKeys(b, keys)
}

// BenchmarkQueue has a window of 64 under one key, as rate benchmarks post it.
func BenchmarkQueue(b *testing.B) { benchKeys(b, make([]uint64, 64)) }

// BenchmarkShared has three keys in each bucket.
func BenchmarkShared(b *testing.B) {
	tab := newTable(b, 1<<16)
	var keys []uint64
	for _, k := range colliding(tab, perBucket) {
		for i := range uint64(256) {
			keys = append(keys, k+i)
		}
	}
	benchKeys(b, keys)
}

// BenchmarkRandom has as many random keys as buckets, so that two in three share one and one in fifty overflows.
func BenchmarkRandom(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	keys := make([]uint64, 1<<16)
	for i := range keys {
		keys[i] = rng.Uint64() % Reserved
	}
	benchKeys(b, keys)
}
