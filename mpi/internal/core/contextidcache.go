package core

import (
	"sync"

	"github.com/golci/golci/mpi/internal/contextid"
)

// contextIDCache are ids that all ranks of a communicator have claimed for those that they will make of it. So only one
// call in several has to agree. It is not for ranks where a collective that fails ends those after it: a rank that does
// not know of a failure would make a communicator, and the others none.
type contextIDCache struct {
	mu sync.Mutex // no lock is taken under it
	// Under mu.
	ids    []int  // in the order in which they are used
	call   uint64 // of c, in which they were claimed
	used   uint64 // how many of that call have been used besides the first
	agreed int    // how often ids have been claimed, up to contextid.SpareTurns
}

// fromSpare gives an id of contextid.Plain, and the uid of the communicator that is to have it.
func (c *Comm) fromSpare(of contextid.Range) (id int, uid uint64, ok bool) {
	c = c.origin()
	s := &c.idCache
	s.mu.Lock()
	defer s.mu.Unlock()
	if of != contextid.Plain || len(s.ids) == 0 || c.checkUsable("") != nil {
		return 0, 0, false
	}
	id, s.ids = s.ids[0], s.ids[1:]
	s.used++
	return id, c.coll.ChildUID(s.call, s.used), true
}

// wantSpare is how many ids more than one to claim of a range.
func (c *Comm) wantSpare(of contextid.Range) int {
	s := &c.origin().idCache
	s.mu.Lock()
	defer s.mu.Unlock()
	if of != contextid.Plain || !c.proc.colls.Isolated() {
		return 0
	}
	n := 1 << s.agreed >> 1
	s.agreed = min(s.agreed+1, contextid.SpareTurns)
	return n
}

func (c *Comm) keepSpare(ids []int, call uint64) {
	s := &c.origin().idCache
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids, s.call, s.used = ids, call, 0
}

// dropSpare lets the ids go that are left, because c is freed. No message can have been sent with them.
func (c *Comm) dropSpare() {
	s := &c.origin().idCache
	s.mu.Lock()
	ids := s.ids
	s.ids = nil
	s.mu.Unlock()
	for _, id := range ids {
		c.proc.ids.Release(id)
	}
}
