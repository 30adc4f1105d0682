package core

import (
	"math/bits"
	"sync"

	"github.com/golci/golci/comm"
)

// A communicator has an id that all its ranks agree on. Its two contexts follow from the id. Each rank keeps a bit
// for each id that it does not use. The ranks of the parent combine their bits with And. All choose the same free id,
// and then each tries to claim it. Another thread of a rank may have claimed it first, for a communicator of another
// parent. If one rank could not claim the id, all release it and try another one. A rank holds nothing while it waits
// for others. So threads may make communicators in a different order on each rank.
const (
	worldID = 0
	selfID  = 1

	worldUID = 1 // see collState
	selfUID  = 2

	maxIDs  = (comm.MaxContext + 1) / 2
	idWords = (maxIDs + 63) / 64

	firstAssertedID = comm.FirstAsserted / 2

	emptyTries  = 4   // attempts before an empty set counts as exhausted: other calls may hold ids for a moment
	returnPolls = 100 // between two attempts
)

type idSet [idWords]uint64

// idRange is a part of the ids, in words of an idSet.
type idRange struct{ from, to int }

var (
	plainIDs    = idRange{0, firstAssertedID / 64}
	assertedIDs = idRange{firstAssertedID / 64, idWords} // of communicators with promises
)

// contexts are the free ids of a rank. An id becomes free again when all members of its communicator have freed it.
// Each member tells the others so after its last message. Before that, a message of the old communicator could reach a
// new one with the same id.
type contexts struct {
	srv *comm.Server
	mu  sync.Mutex
	// Under mu.
	free    idSet
	leaving map[int]leave // by id: communicators that some members have freed
}

// leave counts who has freed a communicator.
type leave struct {
	told    int // members whose last message has come
	members int // 0 until this rank has freed it
}

func (x *contexts) init(srv *comm.Server) {
	x.srv, x.leaving = srv, make(map[int]leave)
	for id := range maxIDs {
		x.free[id/64] |= 1 << (id % 64)
	}
	x.claim(worldID)
	x.claim(selfID)
}

func (x *contexts) snapshot() idSet {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.free
}

// claim takes id; false if it is not free.
func (x *contexts) claim(id int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	bit := uint64(1) << (id % 64)
	ok := x.free[id/64]&bit != 0
	x.free[id/64] &^= bit
	return ok
}

func (x *contexts) release(id int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.free[id/64] |= 1 << (id % 64)
}

// left notes that a member has freed the communicator of id. members is 0 for another rank's notice, and the number of
// members when this rank frees it. The last member makes the id free.
func (x *contexts) left(id, members int) {
	x.mu.Lock()
	l := x.leaving[id]
	if members > 0 {
		l.members = members
	} else {
		l.told++
	}
	if l.told != l.members {
		x.leaving[id] = l
		x.mu.Unlock()
		return
	}
	delete(x.leaving, id)
	x.mu.Unlock()
	x.srv.Reopen(contextsOf(id))
	x.release(id)
}

// contextsOf gives the two contexts of an id: of point to point and of collectives.
func contextsOf(id int) (uint16, uint16) { return uint16(2 * id), uint16(2*id + 1) }

// agree claims a new id of a range, the same on all ranks of c. call is the number of the collective that claimed it.
// All ranks of c call it.
func (c *Comm) agree(what string, of idRange) (id int, call uint64, err error) {
	x := &c.proc.ids
	empty := 0
	for try := 0; ; try++ {
		mine, all := x.snapshot(), idSet{}
		if _, err := c.allAnd(what, bytesOf(&mine), bytesOf(&all)); err != nil {
			return 0, 0, err
		}
		id := of.choose(&all, c.id, try)
		if id < 0 {
			if empty++; empty == emptyTries {
				return 0, 0, c.errorf(what, ": %w: %d are in use", ErrContexts, 64*(of.to-of.from))
			}
			for range returnPolls { // ids may come back
				c.Srv.Poll()
			}
			continue
		}
		if ok, call, err := c.claimTogether(what, id); ok || err != nil {
			return id, call, err
		}
	}
}

// claimTogether claims id on all ranks of c, or on none. If the call fails on a rank, that rank keeps its claim,
// because the call may have succeeded on others. Their messages must not reach another communicator of this rank.
func (c *Comm) claimTogether(what string, id int) (ok bool, call uint64, err error) {
	x := &c.proc.ids
	got := x.claim(id)
	var mine, all [1]uint8
	if got {
		mine[0] = 1
	}
	call, err = c.allAnd(what, mine[:], all[:])
	ok = err == nil && all[0] == 1
	if got && !ok && err == nil {
		x.release(id)
	}
	return ok, call, err
}

// choose returns an id of the range that is in the set, -1 if there is none. The first try takes the lowest. Later
// tries start at a place that depends on parent and try, so that competing parents separate.
func (r idRange) choose(set *idSet, parent, try int) int {
	from, n := 0, r.to-r.from
	if try > 0 {
		from = int(uint64(parent+1) * uint64(try) * 0x9e3779b97f4a7c15 >> 48 % uint64(n))
	}
	for i := range n {
		at := r.from + (from+i)%n
		if w := set[at]; w != 0 {
			return 64*at + bits.TrailingZeros64(w)
		}
	}
	return -1
}
