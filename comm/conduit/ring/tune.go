package ring

import "math/bits"

// prefetchNext makes the consumer ask for the line after a record before it handles the record.
const prefetchNext = false

// lingerPauses is how long a consumer in a flood stands back, in pauses; lingerRarely is how many batches go by without
// standing back while it is in vain.
const (
	lingerPauses = 5
	lingerRarely = 255
)

func lowest(v uint64) int { return bits.TrailingZeros64(v) }
