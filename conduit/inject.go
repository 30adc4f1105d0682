package conduit

// InjectBytes is the most data that Inject takes: a kibibyte and more, in 17 lines with the three words before it.
const InjectBytes = 1064

// Injector is a conduit that sends a short record in one step. It is optional. The word is libfabric's (fi_inject).
type Injector interface {
	// Inject is Reserve and Commit of a Request record of three words and up to InjectBytes of data, under the same
	// lock of the caller. first tells the length, as for Commit. False: nothing has happened, and Reserve may be tried.
	// That is so where the peer is dead, there is no room at hand, or the conduit has to prepare some first.
	Inject(peer int, first, second, third uint64, data []byte) bool
}
