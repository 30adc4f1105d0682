package core

import (
	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/contextid"
)

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

// DupWith is Dup of a communicator with assertions (7.4.2, MPI_Comm_dup_with_info). An assertion holds if all ranks
// make it. Dup of the result has none.
//
// NoAnySource, NoAnyTag and ExactLength together let receivers begin a rendezvous. That is for receives of more than
// EagerLimit bytes with a tag below 1024. Such a receive tells its sender where the bytes go as soon as it is posted. A
// later send to it waits for no answer. A rank that cancels such a receive, or ends it by a context.Context, must ask
// the sender. The sender answers when it polls. Collective over c; it waits, and may switch threads. Errors as for Dup.
func (c *Comm) DupWith(a Assert) (*Comm, error) {
	if err := c.checkUsable("DupWith"); err != nil {
		return nil, err
	}
	mine, all := [1]uint8{uint8(a.bits())}, [1]uint8{}
	if _, err := c.allAnd("DupWith", mine[:], all[:]); err != nil {
		return nil, err
	}
	if all[0] == 0 {
		return c.dup("DupWith", contextid.Plain)
	}
	d, err := c.dup("DupWith", contextid.Asserted)
	if err == nil {
		c.Srv.Assert(d.Ctx, comm.Assert(all[0]))
	}
	return d, err
}

func (a Assert) bits() (b comm.Assert) {
	for bit, is := range map[comm.Assert]bool{
		comm.NoAnySource: a.NoAnySource, comm.NoAnyTag: a.NoAnyTag,
		comm.AllowOvertaking: a.AllowOvertaking, comm.ExactLength: a.ExactLength,
	} {
		if is {
			b |= bit
		}
	}
	return b
}
