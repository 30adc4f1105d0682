package comm

import (
	"github.com/golci/golci/comm/internal/match"
)

// A key names what a message must carry to be matched: context 16 bits, source 20, tag 28.
const (
	tagBits = 28
	srcBits = 20

	// MaxTag is the largest tag (MPI's MPI_TAG_UB).
	MaxTag = 1<<tagBits - 1
	// MaxRanks is the largest number of ranks of a job.
	MaxRanks = 1 << srcBits
	// MaxContext is the largest context; they come in pairs, and the table has reserved the one above the last pair.
	MaxContext = 1<<16 - 3
)

// AnySource and AnyTag are the wildcards of a receive or probe.
const (
	AnySource = match.AnySource
	AnyTag    = match.AnyTag
)

func makeKey(ctx uint16, src, tag int) uint64 {
	return uint64(ctx)<<(srcBits+tagBits) | uint64(src)<<tagBits | uint64(tag)
}

func keyContext(k uint64) uint16 { return uint16(k >> (srcBits + tagBits)) }

func keySource(k uint64) int { return int(k >> tagBits & (MaxRanks - 1)) }

func keyTag(k uint64) int { return int(k & MaxTag) }
