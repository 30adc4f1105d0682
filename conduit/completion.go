package conduit

// Completion is told when bytes of its caller's are the caller's again: once for each Get, Put, or BulkSend that keeps
// what it sends, if the call took n bytes, n more than 0.
type Completion interface {
	// Completed gives back the n bytes of one call. err is nil, or why they have not been moved, or not all of them: it
	// matches ErrKey, or is what Failed says of the peer. It runs in a Poll of the conduit or in its Close, on
	// no other goroutine; Close returns after the last one. It may call the conduit as a Sink may. A Poll counts it,
	// or its cause.
	Completed(n int, err error)
}
