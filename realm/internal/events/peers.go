package events

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
	Sent, Received atomic.Int64
	Why            atomic.Pointer[event.Poison] // of its death
	lost           atomic.Pointer[event.Poison] // the same, for an outcome that only that rank has known
}

func (ps *peers) InitPeers(size int) {
	ps.chunks = make([]atomic.Pointer[[peerChunk]peer], (size+peerChunk-1)/peerChunk)
}

func (ps *peers) PeerOf(rank int) *peer {
	c := ps.chunks[rank/peerChunk].Load()
	if c == nil {
		ps.chunks[rank/peerChunk].CompareAndSwap(nil, new([peerChunk]peer))
		c = ps.chunks[rank/peerChunk].Load()
	}
	return &c[rank%peerChunk]
}

// SumMessages adds up the messages with all peers that are alive.
func (ps *peers) SumMessages() (sent, received int64) {
	for i := range ps.chunks {
		c := ps.chunks[i].Load()
		if c == nil {
			continue
		}
		for j := range c {
			if c[j].Why.Load() == nil {
				sent += c[j].Sent.Load()
				received += c[j].Received.Load()
			}
		}
	}
	return sent, received
}

// DeathOf is the poison for what depends on a rank that has died.
func (rt *Rank) DeathOf(rank int) *event.Poison {
	p := rt.Peers.PeerOf(rank)
	if p.Why.Load() == nil {
		p.Why.CompareAndSwap(nil, DeathPoison(rank, fault.ErrPeer))
	}
	return p.Why.Load()
}

// LostWith is the poison for an event of a rank that has died, and for what has become of it.
func (rt *Rank) LostWith(rank int) *event.Poison {
	p := rt.Peers.PeerOf(rank)
	if p.lost.Load() == nil {
		why := *rt.DeathOf(rank)
		why.Errors |= event.Lost
		p.lost.CompareAndSwap(nil, &why)
	}
	return p.lost.Load()
}

func DeathPoison(rank int, err error) *event.Poison {
	return &event.Poison{
		Rank: int32(rank), Errors: fault.NumbersOf(err) | fault.NumbersOf(fault.ErrPeer),
		Text: fmt.Sprintf("rank %d has died: %v", rank, err), Err: err,
	}
}
