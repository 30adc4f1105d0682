package am

import (
	"slices"
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/platform/spin"
)

// pendingPeers holds the peers for which something waits to be sent, each once: a flag beside what waits says so.
type pendingPeers struct {
	n       atomic.Int32 // peers, as far as one look can tell
	more    atomic.Bool  // added is not empty; written under mu
	mu      spin.Lock
	added   []int32   // under mu: what each takes at its next turn
	pumping spin.Lock // held by whoever serves the peers
	peers   []int32   // those served; written by the holder of pumping under mu, so either lets one read
}

func (l *pendingPeers) addPeer(peer int) {
	l.mu.Lock()
	l.added = append(l.added, int32(peer))
	l.more.Store(true)
	l.n.Add(1)
	l.mu.Unlock()
}

// eachPeer calls f for every peer, one caller at a time, and keeps those that stay. It adds up what f did. While no
// peer comes or goes it takes one lock.
func (l *pendingPeers) eachPeer(f func(peer int) (did int, stay bool)) (did int) {
	if !l.pumping.TryLock() {
		return 0
	}
	if l.more.Load() {
		l.mu.Lock()
		l.peers = append(l.peers, l.added...)
		l.added = l.added[:0]
		l.more.Store(false)
		l.mu.Unlock()
	}
	for i := 0; i < len(l.peers); {
		n, stay := f(int(l.peers[i]))
		if did += n; stay {
			i++
		} else {
			l.removePeer(i)
		}
	}
	l.pumping.Unlock()
	return did
}

// removePeer takes a peer out, by its place. The caller holds pumping.
func (l *pendingPeers) removePeer(i int) {
	l.mu.Lock()
	l.peers = slices.Delete(l.peers, i, i+1)
	l.n.Add(-1)
	l.mu.Unlock()
}

// snapshot appends the peers to buf.
func (l *pendingPeers) snapshot(buf []int32) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(append(buf, l.peers...), l.added...)
}

// pumpAll sends what is queued, as far as credits and room go, and returns how many were sent.
func (e *Endpoint) pumpAll(w *fult.Worker) (sent int) {
	return e.stalled.eachPeer(func(peer int) (int, bool) {
		ln := e.senderOf(peer)
		if ln.stillShort() && !e.closed.Load() || !ln.mu.TryLock() {
			return 0, true
		}
		if !ln.hasQueued {
			ln.waits = false
			ln.mu.Unlock()
			return 0, false
		}
		return e.pumpSender(ln, peer, w), true
	})
}

// stillShort reports that the first request of the pair has found too few credits, and the peer has returned none
// since. What else lets it go is seen under the lock only. So each shortLooks-th time it says no.
// Called by the holder of pumping.
func (ln *sender) stillShort() bool {
	if at := ln.starvedAt.Load(); at == 0 || at != digestOf(ln.theirs.Load()) {
		return false
	}
	ln.looks++
	return ln.looks%shortLooks != 0
}

const shortLooks = 16

// pumpBulks moves bytes as far as there is room, and returns the number of pieces.
func (e *Endpoint) pumpBulks(w *fult.Worker) (n int) {
	return e.bulkBusy.eachPeer(func(peer int) (int, bool) {
		q := &e.senderOf(peer).bulk
		if !q.mu.TryLock() {
			return 0, true
		}
		if q.isEmpty() {
			q.waits = false
			q.mu.Unlock()
			return 0, false
		}
		return e.pumpBulk(q, peer, w), true
	})
}
