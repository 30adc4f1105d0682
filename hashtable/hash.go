package hashtable

// spread is 2^64 divided by the golden ratio, made odd: multiples of it lie evenly for every power-of-two stride.
const spread = 0x9E3779B97F4A7C15

// slot returns the bucket of key among 2^log2, plus a multiple of 2^log2. The low bits count up with the key, so that
// consecutive tags use consecutive lines and few pages; what lies above them moves the whole run to a place of its own.
func slot(key uint64, log2 uint8) uint64 {
	return key + (key>>(log2&63))*spread>>(-log2&63)
}
