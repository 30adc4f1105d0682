package conduit

import "sync/atomic"

// Word is a word of memory that others write, and what it holds while there is no news.
type Word struct {
	At   *atomic.Uint64
	Held uint64
}

// Watcher is a conduit whose news show in words of memory. So a poller for which a poll is dear can look at these
// first. It is optional.
type Watcher interface {
	// Watch appends words to those given. While Pending is false all of them hold what Held says. What has come since
	// shows in one of them, except what the conduit itself does later, such as the end of a peer: look again after some
	// time. ok is false where there are news already. The words are good until Close, and no memory of the collector.
	Watch(words []Word) (all []Word, ok bool)
}
