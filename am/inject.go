package am

import "github.com/golci/golci/internal/transport/credit"

// Inject sends a request of one argument and up to conduit.InjectBytes of payload at once or not at all, in fewer steps
// than Open and Commit. The Spec of the handler h is Ordered and has NoReply. It serves peers to which a word carries
// credits. False: nothing has happened, and Open tells why, or succeeds.
func (e *Endpoint) Inject(peer int, h uint8, arg uint64, payload []byte) bool {
	ln := e.senders[peer].Load()
	if ln == nil || e.injector == nil {
		return false
	}
	n := headerBytes + argBytes + len(payload)
	cost := (n + credit.Unit - 1) / credit.Unit
	ln.mu.Lock()
	ok := !ln.slowPath && ln.words && ln.credit.TakeQuietly(cost)
	if ok {
		flags := uint8(flagOrdered)
		if len(payload) > 0 {
			flags |= flagMedium
		}
		if ok = e.injector.Inject(peer, word0(n, h, flags, 1), word1(credit.Fields(cost), ln.seq, 0), arg, payload); ok {
			ln.seq++
		} else {
			ln.credit.Undo(cost)
		}
	}
	ln.mu.Unlock()
	return ok
}
