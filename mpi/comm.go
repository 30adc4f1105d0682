package mpi

import "github.com/golci/golci/mpi/internal/core"

// Comm is a communicator: a group of ranks with a space of messages of its own (chapter 7). Any goroutine or thread
// may call its methods at any time. But only one collective runs on a communicator at a time: see ErrConcurrent.
type Comm core.Comm

// core is c as the layer below knows it. The two are one object.
func (c *Comm) core() *core.Comm { return (*core.Comm)(c) }

// Rank is the caller's rank in c, from 0; Undefined for a nil communicator.
func (c *Comm) Rank() int { return c.core().Rank() }

// Size is the number of ranks in c, 0 for a nil communicator.
func (c *Comm) Size() int { return c.core().Size() }

// Proc is the rank that c belongs to.
func (c *Comm) Proc() *Proc { return (*Proc)(c.core().Proc()) }

// WorldRank translates a rank of c to its rank in the world communicator. Error: ErrRank, ErrComm.
func (c *Comm) WorldRank(rank int) (int, error) { return c.core().WorldRank(rank) }

// SetName gives c a name, for this rank's reports of what waits (7.8, MPI_Comm_set_name). An empty name restores the
// default. It is local, and does not block. Error: ErrComm.
func (c *Comm) SetName(name string) error { return c.core().SetName(name) }

// Name is what SetName was given (7.8, MPI_Comm_get_name). Without it that is "world", "self", or "comm" with a
// number that is the same on all ranks of c. It is "" for a nil communicator.
func (c *Comm) Name() string { return c.core().Name() }
