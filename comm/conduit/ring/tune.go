package ring

import "math/bits"

// prefetchNext makes the consumer ask for the line after a record before it handles the record.
const prefetchNext = false

func lowest(v uint64) int { return bits.TrailingZeros64(v) }
