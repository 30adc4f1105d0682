package args

import (
	"fmt"

	"github.com/golci/golci/internal/mpi/pure/errs"
)

// Roots of intercommunicators, by their numbers in the ABI.
const (
	RootHere = -4 // MPI_ROOT
	ProcNull = -3 // MPI_PROC_NULL
)

// Comm is what matters of a communicator.
type Comm struct {
	Rank, Size int
	Remote     int // size of the other group of an intercommunicator
	Inter      bool
}

// Role is the role of the calling rank with that root, which a call without root ignores. errs.Comm: the call is not
// for intercommunicators. errs.Root: there is no such root.
func (c Call) Role(comm Comm, root int) (Role, error) {
	switch {
	case comm.Inter && rows[c].noInter:
		return Peer, fmt.Errorf("%w: %v on an intercommunicator", errs.Comm, c)
	case !c.Rooted() && comm.Inter:
		return Far, nil
	case !c.Rooted():
		return Peer, nil
	case comm.Inter && root == RootHere:
		return Origin, nil
	case comm.Inter && root == ProcNull:
		return Idle, nil
	case comm.Inter && root >= 0 && root < comm.Remote:
		return Far, nil
	case comm.Inter || root < 0 || root >= comm.Size:
		return Peer, fmt.Errorf("%w: %v with root %d of %d", errs.Root, c, root, comm.roots())
	case root == comm.Rank:
		return Root, nil
	}
	return Peer, nil
}

func (comm Comm) roots() int {
	if comm.Inter {
		return comm.Remote
	}
	return comm.Size
}

// Type is what matters of a datatype.
type Type struct {
	Missing     bool // there is none: MPI_DATATYPE_NULL
	Uncommitted bool
	Absolute    bool // its displacements may be addresses, so that the buffer may be MPI_BOTTOM, which is nil
}

// Buf is one side of a call.
type Buf struct {
	At       uintptr // address of the buffer; 0: nil
	InPlace  bool    // it is MPI_IN_PLACE
	Counts   []int64 // one, or one for each rank or neighbour
	Types    []Type  // one, or one for each rank or neighbour
	Displs   []int64 // one for each type, where they may be addresses so that the buffer may be nil; else nil
	NoDispls bool    // the displacements are nil
}

// Op is what matters of an operation.
type Op struct {
	Missing bool // there is none: MPI_OP_NULL
	Unfit   bool // it is predefined and not for the datatype
}

// Check judges the arguments of a call on a rank with that role. Sides that do not matter are not looked at. It looks
// at the sending side first, then at the receiving one, in the order of the arguments in the call, then at both.
//
// errs.Buffer: a buffer is nil and data are expected there, or MPI_IN_PLACE stands where it may not, or both buffers
// are one. errs.Count: a count is negative. errs.Arg: counts or displacements are missing. errs.Type: a datatype is
// missing or not committed. errs.Op: the operation is missing or not for the datatype.
func Check(c Call, r Role, send, recv Buf, op Op) error {
	sides, err := inPlace(c, r, send, recv)
	if err != nil {
		return err
	}
	if sides&Send != 0 {
		if err := send.check(c, Send, "send"); err != nil {
			return err
		}
	}
	if sides&Recv != 0 {
		if err := recv.check(c, Recv, "receive"); err != nil {
			return err
		}
	}
	switch {
	case sides == 0:
		return nil
	case rows[c].reduces && op.Missing:
		return fmt.Errorf("%w: %v without operation", errs.Op, c)
	case rows[c].reduces && op.Unfit:
		return fmt.Errorf("%w: %v with an operation that is not for the datatype", errs.Op, c)
	case sides == both && send.At == recv.At && send.At != 0 && send.data() && recv.data():
		return fmt.Errorf("%w: %v with one buffer for both sides", errs.Buffer, c)
	}
	return nil
}

// inPlace is the sides that matter, once it is clear that MPI_IN_PLACE may stand where it does.
func inPlace(c Call, r Role, send, recv Buf) (Side, error) {
	var given Side
	if send.InPlace {
		given |= Send
	}
	if recv.InPlace {
		given |= Recv
	}
	matter := c.Sides(r, false)
	given &= matter
	allowed := rows[c].inPlace
	if r == Origin || r == Far || c.Rooted() && r != Root {
		allowed = 0
	}
	if given&^allowed != 0 {
		return 0, fmt.Errorf("%w: MPI_IN_PLACE in %v where it may not be", errs.Buffer, c)
	}
	return matter &^ given, nil
}

func (b *Buf) check(c Call, side Side, name string) error {
	row := &rows[c]
	if len(b.Counts) == 0 && !c.neighborly() {
		return fmt.Errorf("%w: %v without %s counts", errs.Arg, c, name)
	}
	for i, n := range b.Counts {
		if n < 0 {
			return fmt.Errorf("%w: %s count %d of %v is %d", errs.Count, name, i, c, n)
		}
	}
	if b.NoDispls && len(b.Counts) > 0 && row.lists&side != 0 {
		return fmt.Errorf("%w: %v without %s displacements", errs.Arg, c, name)
	}
	for i, t := range b.Types {
		switch {
		case t.Missing && !(row.types && b.count(i) == 0):
			return fmt.Errorf("%w: %s datatype %d of %v is missing", errs.Type, name, i, c)
		case t.Uncommitted:
			return fmt.Errorf("%w: %s datatype %d of %v is not committed", errs.Type, name, i, c)
		}
	}
	if b.At == 0 && b.data() && !b.absolute() {
		return fmt.Errorf("%w: the %s buffer of %v is nil", errs.Buffer, name, c)
	}
	return nil
}

// count is the count that goes with a type.
func (b *Buf) count(i int) int64 {
	if i < len(b.Counts) {
		return b.Counts[i]
	}
	return 0
}

// data tells whether there are any.
func (b *Buf) data() bool {
	for _, n := range b.Counts {
		if n > 0 {
			return true
		}
	}
	return false
}

func (b *Buf) absolute() bool {
	for i, t := range b.Types {
		far := i < len(b.Displs) && (b.Displs[i] != 0 || b.count(i) == 0)
		if !t.Absolute && !far {
			return false
		}
	}
	return len(b.Types) > 0
}
