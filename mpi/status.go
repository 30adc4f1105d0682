package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/core"
)

// Special values of ranks, tags and colours, as in the ABI of MPI 5.0 (20.3). Use the names.
const (
	AnySource = -1     // receive from any rank of the communicator
	AnyTag    = -2     // receive any tag
	ProcNull  = -3     // sends to and receives from it do nothing, at once (3.10)
	Root      = -4     // the root argument on the root of an intercommunicator; elsewhere ErrRoot (6.2.3)
	Undefined = -32766 // a colour of Split, and the index when no request is active

	// TagUB is the largest tag.
	TagUB = 1<<28 - 1
)

// Status tells what a receive or probe got (3.2.5).
type Status struct {
	Source int // rank of the sender in the communicator
	Tag    int

	bytes     int64
	cancelled bool
}

// Bytes is the length of the message in bytes; of a truncated one, what the buffer holds.
func (s Status) Bytes() int64 { return s.bytes }

// Cancelled reports whether the operation was cancelled (3.8.4).
func (s Status) Cancelled() bool { return s.cancelled }

// Count is the number of elements of type T in the message (3.2.5). ErrCount if it is not a whole number, and then it
// returns Undefined; ErrType if T cannot be sent.
func Count[T any](s Status) (int, error) {
	if err := elemOf[T]().Err(); err != nil {
		return Undefined, fmt.Errorf("mpi: Count: %w", err)
	}
	if s.bytes == 0 {
		return 0, nil
	}
	n := int64(sizeOf[T]())
	if n == 0 || s.bytes%n != 0 {
		return Undefined, fmt.Errorf("mpi: Count: %w", core.CountError(s.bytes, int(n)))
	}
	return int(s.bytes / n), nil
}

// face is st with what it tells by methods.
func face(st core.Status) Status {
	return Status{Source: st.Source, Tag: st.Tag, bytes: st.Bytes, cancelled: st.Cancelled}
}

// status is face for what a call returns.
func status(st core.Status, err error) (Status, error) { return face(st), err }
