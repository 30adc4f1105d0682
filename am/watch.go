package am

import "github.com/golci/golci/conduit"

// Watch appends the words in which news show, for a caller that does not poll before one of them changes or some time
// has passed. idle says that the last poll has found nothing: then what is owed is paid first, as Sleep does. ok is
// false where the conduit has no such words, there are news already, or something waits to be sent. It does not block.
func (e *Endpoint) Watch(words []conduit.Word, idle bool) (all []conduit.Word, ok bool) {
	if e.watcher == nil || e.toSend() {
		return words, false
	}
	if idle {
		e.pollMu.Lock()
		e.recv.tellAll()
		e.pollMu.Unlock()
	}
	return e.watcher.Watch(words)
}
