package conduit

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// News is what a poller must know beside what has arrived.
type News uint32

const (
	NoNews   News = iota // all failures have been told, and the conduit is open
	PeerGone             // a peer has failed, and Tell has not told of it yet
	OwnEnd               // the conduit is closed; nothing is told any more
)

// Failures are the peers that a conduit cannot reach any more, why, and which of them its Sink has still to be told of.
// A conduit keeps one. Init comes first. Any goroutine may call its methods, also inside Sink.Gone.
type Failures struct {
	size int
	dead []atomic.Uint64 // a bit a peer: Reserve looks here. Set after the reason
	// news is a News. It changes when a peer fails and when the last failure is told, so pollers may load it.
	news atomic.Uint32

	mu       sync.Mutex // guards the rest
	foretold func(peer int, reason error)
	reasons  map[int]*PeerError
	untold   []int // peers, the first to fail first
}

// Init makes it that of a conduit in a job of size ranks.
func (f *Failures) Init(size int) {
	f.size, f.dead, f.reasons = size, make([]atomic.Uint64, (size+63)/64), map[int]*PeerError{}
}

// Foretell implements Foreteller.
func (f *Failures) Foretell(tell func(peer int, reason error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.foretold = tell
}

// Has tells whether peer, a rank of the job, is out of reach, also because this conduit is closed.
func (f *Failures) Has(peer int) bool { return f.dead[peer>>6].Load()&(1<<(peer&63)) != 0 }

// News is one load.
func (f *Failures) News() News { return News(f.news.Load()) }

// Failed is Conduit.Failed.
func (f *Failures) Failed(peer int) error {
	switch {
	case uint(peer) >= uint(f.size):
		return &PeerError{Peer: peer, Err: ErrUnreachable, Detail: fmt.Sprintf("job of %d ranks", f.size)}
	case !f.Has(peer):
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.reasons[peer]; r != nil {
		return r
	}
	return &PeerError{Peer: peer, Err: ErrClosed}
}

// Lost tells whether peer, a rank of the job, is out of reach for a reason of its own.
func (f *Failures) Lost(peer int) bool {
	if !f.Has(peer) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reasons[peer] != nil
}

// Add notes that peer, a rank of the job, is out of reach from now on; the first reason stays. It is called when the
// last record of peer can be found, and whoever sleeps in the conduit must be woken after it.
func (f *Failures) Add(peer int, reason error, detail string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.reasons[peer] != nil {
		return
	}
	if f.News() == OwnEnd {
		f.reasons[peer] = &PeerError{Peer: peer, Err: ErrClosed}
		return
	}
	if f.foretold != nil {
		f.foretold(peer, reason)
	}
	f.reasons[peer] = &PeerError{Peer: peer, Err: reason, Detail: detail}
	f.dead[peer>>6].Or(1 << (peer & 63))
	f.untold = append(f.untold, peer)
	f.news.Store(uint32(PeerGone))
}

// Close puts every peer out of reach; nothing is told from now on. False if it was closed already.
func (f *Failures) Close() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.News() == OwnEnd {
		return false
	}
	f.news.Store(uint32(OwnEnd))
	f.untold = nil
	for i := range f.dead {
		f.dead[i].Store(^uint64(0))
	}
	return true
}

// Tell calls sink.Gone, once each, for peers that have failed and for which over says that all they sent has been
// delivered. Poll calls it, every time while News is PeerGone. over must not call f.
func (f *Failures) Tell(sink Sink, over func(peer int) bool) {
	for _, e := range f.takeNew(over) {
		sink.Gone(e.Peer, e)
	}
}

func (f *Failures) takeNew(over func(peer int) bool) (told []*PeerError) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.untold = slices.DeleteFunc(f.untold, func(peer int) bool {
		done := over(peer)
		if done {
			told = append(told, f.reasons[peer])
		}
		return done
	})
	if len(f.untold) == 0 && f.News() == PeerGone {
		f.news.Store(uint32(NoNews))
	}
	return told
}
