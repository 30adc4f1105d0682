package am

// SendLine sends a request of one argument and up to conduit.LineBytes of payload at once or not at all, in fewer steps
// than Open and Commit. The Spec of the handler h is Ordered and has NoReply. It serves peers to which a word carries
// credits. False: nothing has happened, and Open tells why, or succeeds.
func (e *Endpoint) SendLine(peer int, h uint8, arg uint64, payload []byte) bool {
	ln := e.lanes[peer].Load()
	if ln == nil || e.lines == nil {
		return false
	}
	ln.mu.Lock()
	ok := !ln.care && ln.words && ln.credit.TakeOne()
	if ok {
		flags := uint8(flagOrdered)
		if len(payload) > 0 {
			flags |= flagMedium
		}
		first := word0(headerBytes+argBytes+len(payload), h, flags, 1)
		if ok = e.lines.SendLine(peer, first, word1(1, ln.seq, 0), arg, payload); ok {
			ln.seq++
		} else {
			ln.credit.Undo(1)
		}
	}
	ln.mu.Unlock()
	return ok
}
