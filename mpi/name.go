package mpi

import (
	"fmt"
	"sync"
)

// names finds communicators by the id that their contexts come from: for reports of what waits.
type names struct {
	mu   sync.Mutex
	byID map[int]*Comm // guarded by mu; without those that have been freed
}

func (n *names) add(c *Comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.byID == nil {
		n.byID = make(map[int]*Comm)
	}
	n.byID[c.id] = c
}

// remove forgets c, before its id can be given to another one.
func (n *names) remove(c *Comm) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.byID, c.id)
}

// of is the name of the communicator with that id.
func (n *names) of(id int) string {
	n.mu.Lock()
	c := n.byID[id]
	n.mu.Unlock()
	if c == nil {
		return fmt.Sprintf("communicator %d, which has been freed", id)
	}
	return c.Name()
}

// rankIn gives the rank that a rank of the world has in the communicator with that id; false if there is none.
func (n *names) rankIn(id, world int) (int, bool) {
	n.mu.Lock()
	c := n.byID[id]
	n.mu.Unlock()
	if c == nil || uint(world) >= uint(c.proc.rank.Size()) {
		return 0, false
	}
	return c.rankOf(world), true
}

// SetName gives c a name, for this rank's reports of what waits (7.8, MPI_Comm_set_name). An empty name restores the
// default. It is local, and does not block. Error: ErrComm.
func (c *Comm) SetName(name string) error {
	if err := c.usable("SetName"); err != nil {
		return err
	}
	c.origin().name.Store(&name)
	return nil
}

// Name is what SetName was given (7.8, MPI_Comm_get_name). Without it that is "world", "self", or "comm" with a
// number that is the same on all ranks of c. It is "" for a nil communicator.
func (c *Comm) Name() string {
	if c == nil {
		return ""
	}
	if name := c.origin().name.Load(); name != nil && *name != "" {
		return *name
	}
	switch c.id {
	case worldID:
		return "world"
	case selfID:
		return "self"
	}
	return fmt.Sprintf("comm %d", c.id)
}
