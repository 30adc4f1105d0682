package core

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/contextid"
)

// SetName gives c a name, for this rank's reports of what waits (7.8, MPI_Comm_set_name). An empty name restores the
// default. It is local, and does not block. Error: ErrComm.
func (c *Comm) SetName(name string) error {
	if err := c.there("SetName"); err != nil {
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
	if name, ok := c.GivenName(); ok && name != "" {
		return name
	}
	switch c.id {
	case contextid.World:
		return "world"
	case contextid.Self:
		return "self"
	}
	return fmt.Sprintf("comm %d", c.id)
}

// GivenName is what SetName was given; !ok: it was not called.
func (c *Comm) GivenName() (name string, ok bool) {
	if p := c.origin().name.Load(); p != nil {
		return *p, true
	}
	return "", false
}
