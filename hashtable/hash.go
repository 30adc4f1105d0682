package hashtable

// spread was found by search among random odd numbers: with as many keys as buckets, 2^9 to 2^18, no stride of a power
// of two and no product of sources and tags puts more than five keys in one bucket. The golden ratio puts ten there.
const spread = 0x9F8EBBF8497BD075

// slot returns the bucket of key among 2^log2, plus a multiple of 2^log2. The low bits count up with the key, so that
// consecutive tags use consecutive lines and few pages; what lies above them moves the whole run to a place of its own.
func slot(key uint64, log2 uint8) uint64 {
	return key + (key>>(log2&63))*spread>>(-log2&63)
}
