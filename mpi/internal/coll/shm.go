package coll

import (
	"time"
	"unsafe"

	"github.com/golci/golci/conduit"
	"github.com/golci/golci/internal/observe/settings"
	"github.com/golci/golci/internal/platform/futex"
	"github.com/golci/golci/internal/schedule"
	"github.com/golci/golci/mpi/internal/coll/algorithm"
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/shmcoll"
)

// Ranks that share a node carry out collectives through a shared segment: memory that all of them map. A rank writes
// what it brings to its part of the shared segment, and reads that of others. So a short collective costs one crossing
// of a cache line where messages take several, and ranks that share a core wait for one turn of each other. Calls that
// wait have this way; others go by schedules, since progress cannot tell by a message when to go on.

// shmState is what a communicator has on a rank for calls through the shared segment. The call that runs owns it.
type shmState struct {
	b    *shmcoll.Segment // of the node's ranks; nil: there is none, or not yet
	at   uint64           // the number of the call that makes it; 0: none does any more
	told uint64           // Done of this rank
	seen uint64           // Done of all ranks of the node is at least that, as far as this rank knows
	bulk uint64           // the number of the last call that had chunks
	gets bool             // all ranks of all nodes get from the memory of their neighbours by themselves

	crowded bool // some ranks of some node share cores

	parts *partMethods // of calls with long parts; nil before the first

	nodes
}

// shmFrom is the number of the call that makes the shared segment. Communicators that have fewer collectives do
// without. It is a power of two, as prepare looks at those numbers.
const shmFrom = 8

// firstShm tells at which call the ranks try to make a shared segment.
func (e *Env) firstShm() uint64 {
	if e.betweenGroups() || len(e.Peers) < 2 || e.OfRank == nil {
		return 0
	}
	return shmFrom
}

// shmKey is what the first rank of a node, which owns the memory, tells another one.
type shmKey struct {
	size     uint64 // of the memory in bytes, or 0: there is none
	id, base uint64 // of its conduit.Key
}

// makeShm makes the shared segments of the communicator, one for each node, before the call. All ranks do so in the
// same call. The first rank of a node gives the memory. All ranks use theirs, or none does. It waits.
func (x *Call) makeShm() error {
	sh := &x.st.shared
	if x.async != nil {
		sh.at *= 2
		return nil
	}
	sh.at = 0
	w := x.alg
	defer func() { x.alg, x.op = w, argument.Operator{} }()
	on, err := x.findNodes()
	if err != nil || !on.worth() {
		return err
	}
	keys := make([]shmKey, len(on.ranks))
	var mem []byte
	if on.me == 0 {
		mem = x.offerShm(on.ranks, keys)
	}
	x.buf[schedule.In], x.buf[schedule.Out] = bytesIn(keys), bytesIn(make([]shmKey, 1))
	key := (*shmKey)(unsafe.Pointer(&x.buf[schedule.Out].mem[0]))
	n := int(unsafe.Sizeof(*key))
	s := x.takeForShm()
	s.Star(schedule.Place{Rank: on.me, Size: len(keys)}, schedule.Rooted{N: n, Down: true},
		&schedule.Parts{Buf: schedule.In, Each: n})
	s.Rename(on.ranks)
	if err := x.perform(); err != nil {
		return err
	}
	if on.me != 0 && key.size != 0 {
		mem = x.mapShm(on.ranks[0], len(keys), key)
	}
	var mine, common [1]byte
	if mem != nil {
		mine[0] = canShare
		if futex.RegisterMembarrier() {
			mine[0] |= canFence
		}
		if x.st.OfRank.Rank.Endpoint().Progress().Spins() {
			mine[0] |= hasCore
		}
		if x.canReach(&on) {
			mine[0] |= canGet
		}
	}
	x.buf[schedule.In], x.buf[schedule.Out] = buffer{mine[:], 1, 1}, buffer{common[:], 1, 1}
	x.op = argument.Operator{Combiner: argument.And{}, Commutes: true}
	x.takeForShm().AllreduceDoubling(x.schedulePlace(), len(mine), false)
	if err := x.perform(); err != nil || common[0]&canShare == 0 {
		return err
	}
	sh.gets, sh.crowded = common[0]&canGet != 0, common[0]&hasCore == 0
	sh.b, sh.nodes = shmcoll.New(mem, len(keys), on.me, common[0]&canFence != 0), on
	return nil
}

// bytesIn is the memory of the elements of s.
func bytesIn[T any](s []T) buffer {
	n := len(s) * int(unsafe.Sizeof(s[0]))
	return buffer{unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n), n, 1}
}

// What a rank can do, for all of them to agree on.
const (
	canShare = 1 << iota // it has the memory
	canFence             // others can have it pass a memory barrier
	canGet               // it copies from the memory of the others by itself
	hasCore              // it polls while it waits, and keeps nobody from running
)

// takeForShm gives the schedule to build of an exchange in which a shared segment is made. Its messages come before
// those of the call. All such exchanges of a call have one tag: each rank carries them out in the same order.
func (x *Call) takeForShm() *schedule.Schedule {
	x.alg, x.once = algorithm.ShmMake, false
	x.tag = algorithm.MakeTag(x.size, algorithm.ShmMake, 0, x.call)
	x.lastTag = x.tag
	return x.fresh(algorithm.ShmMake)
}

// offerShm makes the memory and lets the ranks of the node reach it. It gives none where that cannot be, or is not
// wanted.
func (x *Call) offerShm(ranks []int, keys []shmKey) []byte {
	p, e := x.st.OfRank, &x.st.Env
	if !p.wantsShm() {
		return nil
	}
	remote := p.remote()
	for _, r := range ranks[1:] {
		if remote == nil || !remote.Reach(int(e.Peers[r])).Map {
			return nil
		}
	}
	mem, err := p.Arena.Take(shmcoll.Size(len(ranks)))
	if err != nil {
		return nil
	}
	clear(mem)
	exposed := make([]conduit.Key, len(ranks))
	for i, r := range ranks[1:] {
		k, status := remote.Expose(int(e.Peers[r]), mem)
		if status != conduit.OK {
			e.hideShm(ranks, exposed, mem)
			return nil
		}
		exposed[i+1] = k
		keys[i+1] = shmKey{size: uint64(len(mem)), id: k.ID, base: k.Base}
	}
	p.IDs.CallWhenLeft(e.ID, func() { e.hideShm(ranks, exposed, mem) })
	return mem
}

// hideShm takes the memory back, which nobody uses any more.
func (e *Env) hideShm(ranks []int, exposed []conduit.Key, mem []byte) {
	p := e.OfRank
	for i, k := range exposed {
		if k.ID != 0 {
			_ = p.remote().Release(int(e.Peers[ranks[i]]), k) // an error is of a rank that has died
		}
	}
	p.Arena.Give(mem)
}

// mapShm gives the memory for a shared segment of so many ranks that a rank offers, or nil.
func (x *Call) mapShm(owner, ranks int, k *shmKey) []byte {
	p := x.st.OfRank
	remote, root := p.remote(), int(x.st.Peers[owner])
	if remote == nil || !p.wantsShm() || !remote.Reach(root).Map {
		return nil
	}
	for end := time.Now().Add(mapWait); time.Now().Before(end); {
		mem, _, err := remote.Map(root, k.keyOf(shmcoll.Size(ranks)))
		if mem != nil || err != nil {
			return mem // the end of the owner does not take it away, only that of this rank's conduit
		}
		p.Server.Poll() // the news of the memory is on its way
		p.Rank.Endpoint().Progress().Yield()
	}
	return nil
}

// mapWait is how long a rank waits for memory that has been offered to it already.
const mapWait = 5 * time.Second

// wantsShm tells whether calls of this rank are to go over shared segments.
func (p *RankState) wantsShm() bool {
	switch settings.Collectives.Get(p.Rank.Settings()) {
	case "messages":
		return false
	case "memory":
		return true
	}
	return p.Rank.Endpoint().Progress().Shares()
}
