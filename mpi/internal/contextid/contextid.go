// Package contextid keeps the ids of communicators on a rank: which are free, and how the members of a communicator
// claim one together. The contexts of messages follow from an id.
package contextid

import (
	"fmt"
	"math/bits"
	"sync"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// A communicator has an id that all its ranks agree on. Its two contexts follow from the id. Each rank keeps a bit
// for each id that it does not use. The ranks of the parent combine their bits with And. All choose the same free id,
// and then each tries to claim it. Another thread of a rank may have claimed it first, for a communicator of another
// parent. If one rank could not claim the id, all release it and try another one. A rank holds nothing while it waits
// for others. So threads may make communicators in a different order on each rank.
const (
	World  = 0
	Self   = 1
	System = 2 // of no communicator; see system

	WorldUID = 1 // see collState
	SelfUID  = 2

	Max   = (comm.MaxContext + 1) / 2
	words = (Max + 63) / 64

	FirstAsserted = comm.FirstAsserted / 2

	EmptyTries  = 4   // attempts before an empty set counts as exhausted: other calls may hold ids for a moment
	returnPolls = 100 // between two attempts
)

type Set [words]uint64

// bytes is the memory of s.
func (s *Set) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(s)), unsafe.Sizeof(*s)) }

// Range is a part of the ids, in words of an Set.
type Range struct{ From, To int }

var (
	Plain    = Range{0, FirstAsserted / 64}
	Asserted = Range{FirstAsserted / 64, words} // of communicators with promises
)

// IDs are the free ids of a rank. An id becomes free again when all members of its communicator have freed it.
// Each member tells the others so after its last message. Before that, a message of the old communicator could reach a
// new one with the same id.
type IDs struct {
	srv *comm.Server
	mu  sync.Mutex
	// Under mu.
	free    Set
	freeing map[int]freeCount // by id: communicators that some members have freed
	after   map[int]func()    // by id: what is to be done when all members have
}

// freeCount counts the ranks that have freed a communicator.
type freeCount struct {
	told    int // members whose last message has come
	members int // 0 until this rank has freed it
}

func (x *IDs) Init(srv *comm.Server) {
	x.srv, x.freeing, x.after = srv, make(map[int]freeCount), make(map[int]func())
	for i := range x.free {
		x.free[i] = ^uint64(0)
	}
	for id := Max; id < 64*words; id++ { // which the last word has room for
		x.free[id/64] &^= 1 << (id % 64)
	}
	x.Claim(World)
	x.Claim(Self)
	x.Claim(System)
}

// CountFreeing returns the number of ids that at least one member has freed but not yet all members have.
func (x *IDs) CountFreeing() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return len(x.freeing)
}

func (x *IDs) Snapshot() Set {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.free
}

// Claim takes id; false if it is not free.
func (x *IDs) Claim(id int) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	bit := uint64(1) << (id % 64)
	ok := x.free[id/64]&bit != 0
	x.free[id/64] &^= bit
	return ok
}

func (x *IDs) Release(id int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.free[id/64] |= 1 << (id % 64)
}

// NoteLeft notes that a member has left the communicator of id. A call with members 0 stands for one notice of a
// member, which has sent its last message there. A call with members above 0 says that this rank frees the
// communicator and that it has so many members. This call is no notice itself: the rank also sends one to itself.
// When this rank has freed it and the notices of all members are there, the id is free again. Before that, the
// function of CallWhenLeft runs.
func (x *IDs) NoteLeft(id, members int) {
	x.mu.Lock()
	l := x.freeing[id]
	if members > 0 {
		l.members = members
	} else {
		l.told++
	}
	if l.told != l.members {
		x.freeing[id] = l
		x.mu.Unlock()
		return
	}
	f := x.after[id]
	delete(x.freeing, id)
	delete(x.after, id)
	x.mu.Unlock()
	if f != nil {
		f()
	}
	x.srv.Reopen(ContextsOf(id))
	x.Release(id)
}

// CallWhenLeft has f called when all members have freed the communicator of id. f may be called by the poller.
func (x *IDs) CallWhenLeft(id int, f func()) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.after[id] = f
}

// ContextsOf gives the two contexts of an id: of point to point and of collectives.
func ContextsOf(id int) (uint16, uint16) { return uint16(2 * id), uint16(2*id + 1) }

// maxSpare is how many ids are claimed besides the one that is needed: none at the first time, then 1, 2, 4 and so on.
const (
	maxSpare   = 1 << (SpareTurns - 1)
	SpareTurns = 6
)

// AndExchange combines the bits of all members, and gives all the result. It waits.
type AndExchange func(mine, all []byte) error

// Agree claims one id of the range that is free on all members of a group, and returns it. It is collective: all
// members call it, with the same range and seed. Groups that call it at the same time should have different seeds:
// then they try different ids after a collision. and combines the members' bits, and blocks. Errors: ErrContexts if
// no id is free, and those of and.
func (x *IDs) Agree(of Range, seed int, and AndExchange) (id int, err error) {
	ids, err := x.AgreeSome(of, seed, 0, and)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// AgreeSome is Agree that claims up to more spare ids as well, at most maxSpare. ids[0] is the id that Agree would
// return. more may differ between members. All get the same spare ids, at most as many as the smallest more. They get
// none while less than half of the range is free on all members. If and fails, ids may stay claimed (ClaimTogether).
func (x *IDs) AgreeSome(of Range, seed, more int, and AndExchange) (ids []int, err error) {
	empty := 0
	for try := 0; ; try++ {
		mine, all := x.Snapshot(), Set{}
		if err := and(mine.bytes(), all.bytes()); err != nil {
			return nil, err
		}
		id := of.chooseID(&all, seed, try)
		if id < 0 {
			if empty++; empty == EmptyTries {
				return nil, fmt.Errorf("%w: %d are in use", sentinel.ErrContexts, 64*(of.To-of.From))
			}
			for range returnPolls { // ids may come back
				x.srv.Poll()
			}
			continue
		}
		if ids, err := x.ClaimTogether(append([]int{id}, of.chooseOthers(&all, id)...), more,
			and); ids != nil || err != nil {
			return ids, err
		}
	}
}

// ClaimTogether claims the first id on all members, or on none, and up to more of the others that all can claim.
// All have the same list. If the call fails on a rank, that rank keeps its claims, because the call may have succeeded
// on others. Their messages must not reach another communicator of this rank.
func (x *IDs) ClaimTogether(list []int, more int, and AndExchange) (ids []int, err error) {
	var mine, all [maxSpare/8 + 1]uint8
	got := make([]bool, len(list))
	for i, id := range list[:min(len(list), more+1)] {
		if got[i] = x.Claim(id); got[i] {
			mine[i/8] |= 1 << (i % 8)
		}
	}
	if err = and(mine[:], all[:]); err != nil {
		return nil, err
	}
	for i, id := range list {
		switch {
		case all[0]&1 != 0 && all[i/8]>>(i%8)&1 != 0:
			ids = append(ids, id)
		case got[i]:
			x.Release(id)
		}
	}
	return ids, nil
}

// chooseID returns an id of the range that is in the set, -1 if there is none. The first try takes the lowest. Later
// tries start at a place that depends on parent and try, so that competing parents separate.
func (r Range) chooseID(set *Set, parent, try int) int {
	from, n := 0, r.To-r.From
	if try > 0 {
		from = int(uint64(parent+1) * uint64(try) * 0x9e3779b97f4a7c15 >> 48 % uint64(n))
	}
	for i := range n {
		at := r.From + (from+i)%n
		if w := set[at]; w != 0 {
			return 64*at + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// chooseOthers are up to maxSpare ids of the range that are in the set, without id; none if less than half of it is.
func (r Range) chooseOthers(set *Set, id int) (list []int) {
	if r.Short(set) {
		return nil
	}
	for at := r.From; at < r.To && len(list) < maxSpare; at++ {
		for w := set[at]; w != 0 && len(list) < maxSpare; w &= w - 1 {
			if next := 64*at + bits.TrailingZeros64(w); next != id {
				list = append(list, next)
			}
		}
	}
	return list
}

// Short tells that less than half of the range is in the set.
func (r Range) Short(set *Set) bool {
	free := 0
	for _, w := range set[r.From:r.To] {
		free += bits.OnesCount64(w)
	}
	return free < 32*(r.To-r.From)
}
