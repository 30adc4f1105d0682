package am

import (
	"sync/atomic"

	"github.com/golci/golci/fult"
	"github.com/golci/golci/internal/spin"
)

// waiting holds the peers for which something waits to be sent, each once: a flag beside what waits says so.
type waiting struct {
	n       atomic.Int32 // peers, as far as one look can tell
	mu      spin.Lock
	peers   []int32   // under mu
	pumping spin.Lock // held by whoever serves the peers, who owns taken
	taken   []int32
}

func (l *waiting) add(peer int) {
	l.mu.Lock()
	l.peers = append(l.peers, int32(peer))
	l.n.Store(int32(len(l.peers)))
	l.mu.Unlock()
}

// each calls f for every peer, one caller at a time, and keeps those that stay. It adds up what f did.
func (l *waiting) each(f func(peer int) (did int, stay bool)) (did int) {
	if !l.pumping.TryLock() {
		return 0
	}
	l.mu.Lock()
	l.taken = append(l.taken[:0], l.peers...)
	l.peers = l.peers[:0]
	l.mu.Unlock()
	left := 0
	for _, p := range l.taken {
		n, stay := f(int(p))
		did += n
		if stay {
			l.taken[left] = p
			left++
		}
	}
	l.mu.Lock()
	l.peers = append(l.peers, l.taken[:left]...)
	l.n.Store(int32(len(l.peers)))
	l.mu.Unlock()
	l.pumping.Unlock()
	return did
}

// snapshot appends the peers to buf.
func (l *waiting) snapshot(buf []int32) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append(buf, l.peers...)
}

// pumpAll sends what is queued, as far as credits and room go, and returns how many were sent.
func (e *Endpoint) pumpAll(w *fult.Worker) (sent int) {
	return e.stalled.each(func(peer int) (int, bool) {
		ln := e.lane(peer)
		if !ln.mu.TryLock() {
			return 0, true
		}
		if !ln.listed {
			ln.waits = false
			ln.mu.Unlock()
			return 0, false
		}
		return e.pump(ln, peer, w), true
	})
}

// pumpBulks moves bytes as far as there is room, and returns the number of pieces.
func (e *Endpoint) pumpBulks(w *fult.Worker) (n int) {
	return e.bulkBusy.each(func(peer int) (int, bool) {
		q := &e.lane(peer).bulk
		if !q.mu.TryLock() {
			return 0, true
		}
		if q.empty() {
			q.waits = false
			q.mu.Unlock()
			return 0, false
		}
		return e.pumpBulk(q, peer, w), true
	})
}
