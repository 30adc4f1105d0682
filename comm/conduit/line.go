package conduit

// LineBytes is the most data that SendLine takes: a record of a cache line has three words before them.
const LineBytes = 40

// LineSender is a conduit that sends a record of one cache line in one step. It is optional.
type LineSender interface {
	// SendLine is Reserve and Commit of a Request record of three words and up to LineBytes of data, under the same
	// lock of the caller. first tells the length, as for Commit. False: nothing has happened, and Reserve may be tried.
	// That is so where the peer is dead, there is no room at hand, or the conduit has to prepare some first.
	SendLine(peer int, first, second, third uint64, data []byte) bool
}
