package realm

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/realm/internal/event"
	"github.com/golci/golci/realm/internal/fault"
)

const peerChunk = 64 // peers whose state is made at once

// peers is the state for each other rank, made in chunks at the first message.
type peers struct {
	chunks []atomic.Pointer[[peerChunk]peer]
}

// peer counts the messages that rest with quiescence.
type peer struct {
	sent, received atomic.Int64
	why            atomic.Pointer[event.Poison] // of its death
	lost           atomic.Pointer[event.Poison] // the same, for an outcome that only that rank has known
}

func (ps *peers) initPeers(size int) {
	ps.chunks = make([]atomic.Pointer[[peerChunk]peer], (size+peerChunk-1)/peerChunk)
}

func (ps *peers) peerOf(rank int) *peer {
	c := ps.chunks[rank/peerChunk].Load()
	if c == nil {
		ps.chunks[rank/peerChunk].CompareAndSwap(nil, new([peerChunk]peer))
		c = ps.chunks[rank/peerChunk].Load()
	}
	return &c[rank%peerChunk]
}

// sumMessages adds up the messages with all peers that are alive.
func (ps *peers) sumMessages() (sent, received int64) {
	for i := range ps.chunks {
		c := ps.chunks[i].Load()
		if c == nil {
			continue
		}
		for j := range c {
			if c[j].why.Load() == nil {
				sent += c[j].sent.Load()
				received += c[j].received.Load()
			}
		}
	}
	return sent, received
}

// deathOf is the poison for what depends on a rank that has died.
func (rt *rankEvents) deathOf(rank int) *event.Poison {
	p := rt.peers.peerOf(rank)
	if p.why.Load() == nil {
		p.why.CompareAndSwap(nil, deathPoison(rank, fault.ErrPeer))
	}
	return p.why.Load()
}

// lostWith is the poison for an event of a rank that has died, and for what has become of it.
func (rt *rankEvents) lostWith(rank int) *event.Poison {
	p := rt.peers.peerOf(rank)
	if p.lost.Load() == nil {
		why := *rt.deathOf(rank)
		why.Errors |= event.Lost
		p.lost.CompareAndSwap(nil, &why)
	}
	return p.lost.Load()
}

func deathPoison(rank int, err error) *event.Poison {
	return &event.Poison{
		Rank: int32(rank), Errors: fault.NumbersOf(err) | fault.NumbersOf(fault.ErrPeer),
		Text: fmt.Sprintf("rank %d has died: %v", rank, err), Err: err,
	}
}
