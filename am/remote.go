package am

import "github.com/golci/golci/conduit"

// Reach tells what this rank can do with the memory of peer.
func (e *Endpoint) Reach(peer int) conduit.Reach {
	if e.remote == nil {
		return conduit.Reach{}
	}
	return e.remote.Reach(peer)
}

// Expose lets peer reach mem under the key that it returns; false if that cannot be done now. See conduit.Remote.
func (e *Endpoint) Expose(peer int, mem []byte) (conduit.Key, bool) {
	if e.remote == nil {
		return conduit.Key{}, false
	}
	k, st := e.remote.Expose(peer, mem)
	return k, st == conduit.OK
}

// Release ends what Expose began.
func (e *Endpoint) Release(peer int, k conduit.Key) {
	if err := e.remote.Release(peer, k); err != nil {
		e.Fault(err)
	}
}
