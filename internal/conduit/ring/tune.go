package ring

import "math/bits"

// lingerPauses is how long a consumer in a flood stands back, in pauses. While standing back finds nothing,
// lingerRarely batches pass without it.
const (
	lingerPauses = 5
	lingerRarely = 255
)

func lowest(v uint64) int { return bits.TrailingZeros64(v) }
