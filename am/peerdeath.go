package am

import "maps"

// Gone tells whether the layers (Layer.PeerGone) have been told of peer, or are just being told: what it has sent has
// been handled, and nothing more will come. AnyGone tells the same of any peer, by one load.
//
// A caller that waits for a peer first puts its operation where its layer's PeerGone looks, under a lock that PeerGone
// takes too. Then it looks here. The flag is set before these functions run, so one of the two ends the operation.
func (e *Endpoint) Gone(peer int) bool {
	return e.AnyGone() && e.gone[peer>>6].Load()&(1<<(peer&63)) != 0
}

// AnyGone is described at Gone.
func (e *Endpoint) AnyGone() bool { return e.anyGone.Load() }

// Gone implements conduit.Sink.
func (r *receiver) Gone(peer int, err error) {
	e := r.e
	e.gone[peer>>6].Or(1 << (peer & 63))
	e.anyGone.Store(true)
	r.ledger.Forget(peer)
	maps.DeleteFunc(r.longs, func(k longKey, _ *partialLong) bool { return k.src == peer }) // the rest will never come
	ln := e.senderOf(peer)
	ln.mu.Lock()
	ln.dead, ln.slowPath = true, true // from here on nothing is queued
	e.pumpSender(ln, peer, r.w)
	for _, f := range e.gones {
		f(peer, err, r.w)
	}
}
