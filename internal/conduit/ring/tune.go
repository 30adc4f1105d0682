package ring

import "math/bits"

// lingerPauses is how long a consumer in a flood stands back, in pauses; lingerRarely is how many batches go by without
// standing back while it is in vain.
const (
	lingerPauses = 5
	lingerRarely = 255
)

func lowest(v uint64) int { return bits.TrailingZeros64(v) }
