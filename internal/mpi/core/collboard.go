package core

import (
	"unsafe"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/board"
	"github.com/golci/golci/internal/futex"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/internal/settings"
)

// Ranks that share a node carry out collectives over a board: memory that all of them map. A rank writes what it brings
// to its part of the board, and reads that of others. So a short collective costs one crossing of a cache line where
// messages take several, and ranks that share a core wait for one turn of each other. Calls that wait have this way;
// others go by schedules, since progress cannot tell by a message when to go on.

// shared is what a communicator has on a rank for calls over the board. The call that runs owns it.
type shared struct {
	b     *board.Board // nil: there is none, or not yet
	at    uint64       // the number of the call that makes it; 0: none does any more
	told  uint64       // Done of this rank
	seen  uint64       // Done of all ranks is at least that, as far as this rank knows
	bulk  uint64       // the number of the last call that had chunks
	reads bool         // each rank reads the memory of all others
}

// boardFrom is the number of the call that makes the board. Communicators that have fewer collectives do without. It is
// a power of two, as prepare looks at those numbers.
const boardFrom = 8

// firstBoard tells at which call the ranks try to make a board.
func (c *Comm) firstBoard() uint64 {
	n := len(c.peers)
	if c.local != nil || n < 2 || n > board.MaxRanks || c.proc == nil {
		return 0
	}
	return boardFrom
}

// boardKey is what the rank that owns the memory tells another one.
type boardKey struct {
	there    uint64 // 1, or 0: there is no memory
	id, base uint64 // of its conduit.Key
}

// makeBoard makes the board of the communicator, before the call. All ranks do so in the same call. Rank 0 gives the
// memory. All use it, or none does. It waits.
func (x *Call) makeBoard() error {
	st := x.st
	if x.async != nil {
		st.shared.at *= 2
		return nil
	}
	st.shared.at = 0
	w := x.way
	defer func() { x.way, x.op = w, Operator{} }()
	keys := make([]boardKey, x.size)
	var mem []byte
	if x.rank == 0 {
		mem = x.offerBoard(keys)
	}
	all := unsafe.Slice((*byte)(unsafe.Pointer(&keys[0])), len(keys)*int(unsafe.Sizeof(keys[0])))
	x.buf[schedule.Out] = buffer{all, len(all), 1}
	x.takeBefore(wayBoardKeys).BcastTree(x.place(), 0, len(all))
	if err := x.perform(); err != nil || keys[0].there == 0 {
		return err
	}
	if x.rank != 0 {
		mem = x.mapBoard(&keys[x.rank])
	}
	var mine, common [1]byte
	if mem != nil {
		mine[0] = canShare
		if futex.RegisterMembarrier() {
			mine[0] |= canFence
		}
	}
	x.buf[schedule.In], x.buf[schedule.Out] = buffer{mine[:], 1, 1}, buffer{common[:], 1, 1}
	x.op = Operator{Combiner: and{}, Commutes: true}
	x.takeBefore(wayBoardAgree).AllreduceDoubling(x.place(), len(mine), false)
	if err := x.perform(); err != nil || common[0]&canShare == 0 {
		return err
	}
	st.shared.b = board.New(mem, x.size, x.rank, common[0]&canFence != 0)
	st.shared.told, st.shared.seen = 0, 0
	return nil
}

// What a rank can do, for all of them to agree on.
const (
	canShare = 1 << iota // it has the memory
	canFence             // others can have it pass a memory barrier
)

// takeBefore has x send messages of a way that come before those of its call, and gives the schedule to build.
func (x *Call) takeBefore(w way) *schedule.Schedule {
	x.way, x.once, x.onBoard = w, true, nil
	x.tag = collTag(x.size, w, 0, x.call)
	x.lastTag = x.tag
	return x.fresh(w)
}

// offerBoard makes the memory and lets all ranks reach it. It gives none where that cannot be, or is not wanted.
func (x *Call) offerBoard(keys []boardKey) []byte {
	p := x.c.proc
	remote := p.remote()
	if remote == nil || !p.wantsBoards() {
		return nil
	}
	for _, w := range x.c.peers[1:] {
		if !remote.Reach(int(w)).Map {
			return nil
		}
	}
	mem, err := p.arena.Take(board.Size(x.size))
	if err != nil {
		return nil
	}
	clear(mem)
	exposed := make([]conduit.Key, x.size)
	for r := 1; r < x.size; r++ {
		k, status := remote.Expose(int(x.c.peers[r]), mem)
		if status != conduit.OK {
			x.c.hideBoard(exposed, mem)
			return nil
		}
		exposed[r] = k
		keys[r] = boardKey{there: 1, id: k.ID, base: k.Base}
	}
	keys[0].there = 1
	c := x.c
	p.ids.whenLeft(c.id, func() { c.hideBoard(exposed, mem) })
	return mem
}

// hideBoard takes the memory back, which nobody uses any more.
func (c *Comm) hideBoard(exposed []conduit.Key, mem []byte) {
	p := c.proc
	for r, k := range exposed {
		if k.ID != 0 {
			_ = p.remote().Release(int(c.peers[r]), k) // an error is of a rank that has died
		}
	}
	p.arena.Give(mem)
}

// mapBoard gives the memory that rank 0 offers, or nil.
func (x *Call) mapBoard(k *boardKey) []byte {
	p := x.c.proc
	remote, root := p.remote(), int(x.c.peers[0])
	if remote == nil || !p.wantsBoards() || !remote.Reach(root).Map {
		return nil
	}
	for {
		mem, _, err := remote.Map(root, conduit.Key{ID: k.id, Base: k.base, Size: board.Size(x.size)})
		if mem != nil || err != nil {
			return mem // the end of the owner does not take it away, only that of this rank's conduit
		}
		p.srv.Poll() // the news of the memory is on its way
		p.rank.Endpoint().Progress().Yield()
	}
}

// wantsBoards tells whether calls of this rank are to go over boards.
func (p *Proc) wantsBoards() bool {
	switch settings.Collectives.Get(p.rank.Settings()) {
	case "messages":
		return false
	case "memory":
		return true
	}
	return p.rank.Endpoint().Progress().Shares()
}
