package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/core"
)

// Dup makes a communicator of the same ranks with a message space of its own (7.4.2). Collective over c; it waits,
// and may switch threads. Errors: ErrComm, ErrContexts, and those of communication.
func (c *Comm) Dup() (*Comm, error) {
	d, err := c.core().Dup()
	return c.inherit((*Comm)(d), err)
}

// Split makes one communicator for each colour, of the ranks that pass this colour. They are ordered by key and then
// by rank in c (7.4.2). A rank whose colour is Undefined gets nil. Collective over c; it waits, and may switch
// threads. Errors: ErrArgument for a negative colour, ErrComm, ErrContexts, and those of communication.
func (c *Comm) Split(color, key int) (*Comm, error) {
	d, err := c.core().Split(color, key)
	return (*Comm)(d), err
}

// Free ends the use of c (7.4.3). Every rank of c must call it, when its operations on c are done; it does not wait
// for the others. The world and self communicators cannot be freed. Errors: ErrComm; ErrPending if something of c was
// left at this rank, with how much of what. It is freed all the same. Receives that were left end with ErrCancelled,
// sends go on, and messages that were not received are dropped: no other communicator gets them.
// Attributes are deleted first, the last one that was set first; if a drop function fails, c stays: see NewKey.
func (c *Comm) Free() error {
	if _, err := c.WorldRank(0); err != nil {
		return err
	}
	if c != c.Proc().World() && c != c.Proc().Self() {
		if err := c.attributes().Clear(); err != nil {
			return fmt.Errorf("mpi: Free: %w", err)
		}
	}
	return c.core().Free()
}

// Assert is what all ranks of a communicator promise of their point to point messages (7.4.4). Each field stands for an
// info key of the standard. A call that breaks a promise gives ErrAssert where that is cheap to see; otherwise a broken
// promise may leave operations waiting.
type Assert struct {
	// NoAnySource (mpi_assert_no_any_source): no receive or probe from AnySource.
	NoAnySource bool
	// NoAnyTag (mpi_assert_no_any_tag): none with AnyTag.
	NoAnyTag bool
	// AllowOvertaking (mpi_assert_allow_overtaking): messages of one sender that match one receive may be received in
	// any order.
	AllowOvertaking bool
	// ExactLength (mpi_assert_exact_length): a message is as long as the buffer of its receive. So RecvAlloc and
	// RecvValue, which do not know the length, give ErrAssert.
	ExactLength bool
}

// DupWith is Dup of a communicator with promises (7.4.2, MPI_Comm_dup_with_info). Those hold that all ranks make. Dup
// of the result has none.
//
// NoAnySource, NoAnyTag and ExactLength together change receives of more than EagerLimit bytes with a tag below 1024.
// Such a receive tells its sender where the bytes go as soon as it is posted. A later send of them waits for no
// answer. Who cancels such a receive, or ends it by a context, asks its sender, which must poll for that. Collective
// over c; it waits, and may switch threads. Errors as for Dup.
func (c *Comm) DupWith(a Assert) (*Comm, error) {
	d, err := c.core().DupWith(core.Assert(a))
	return c.inherit((*Comm)(d), err)
}
