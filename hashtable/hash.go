package hashtable

// spread is the result of a search among random odd numbers. The search used as many keys as buckets, in tables of
// 2^9 to 2^18 buckets. No stride of a power of two and no product of sources and tags puts more than five keys into
// one bucket. The golden ratio puts ten there.
const spread = 0x9F8EBBF8497BD075

// slotOf returns the bucket of key among 2^log2, plus a multiple of 2^log2. Consecutive keys get consecutive buckets,
// so consecutive tags use consecutive lines and few pages. The upper bits of the key move such a run to another place.
func slotOf(key uint64, log2 uint8) uint64 {
	return key + (key>>(log2&63))*spread>>(-log2&63)
}
