package mpi

import (
	"cmp"

	"github.com/golci/golci/mpi/internal/coll/argument"
)

// valueCall is a collective of values on what the codec makes of them: two collectives of slices, one of lengths, and
// one of bytes. A value that cannot be encoded travels as an empty message, so that the ranks stay in step. Lengths
// that this process cannot have give ErrMemory, and end the collectives of the communicator.
type valueCall struct {
	c    *Comm
	what string
	root int
}

// exchangeLengths carries out the collective of lengths, and adds those of out. They count elements of size bytes.
// failed tells why the sum cannot be had: the next call is to fail with it.
func (m valueCall) exchangeLengths(kind argument.Kind, in, out []int64, size int) (sum int64, failed, err error) {
	var k argument.Description
	if err := m.c.core().Do(sliceCall(&k, kind, m.what, in, out, m.root)); err != nil {
		return 0, nil, err
	}
	sum, failed = m.c.core().Told(m.what, out, m.firstOf(kind), size)
	return sum, failed, nil
}

// firstOf is the rank of which the first length is.
func (m valueCall) firstOf(kind argument.Kind) int {
	if kind == argument.KindBcast || kind == argument.KindScatter {
		return max(m.root, 0)
	}
	return 0
}

// exchangeBytes carries out the collective of bytes. failed tells why this rank cannot.
func exchangeBytes[T any](
	m valueCall, kind argument.Kind, in []T, counts []int, out []T, rcounts []int, failed error,
) error {
	var k argument.Description
	setParts(sliceCall(&k, kind, m.what, in, out, m.root), counts, nil, rcounts, nil)
	k.Err = failed
	return m.c.core().Do(&k)
}

// isRoot reports whether the rank is the root of a collective.
func (c *Comm) isRoot(root int) bool {
	if c.Inter() {
		return root == Root
	}
	return c.Rank() == root
}

// sendsTo reports whether the rank gives something to the root. In one group all do.
func (c *Comm) sendsTo(root int) bool { return !c.Inter() || root >= 0 }

// bcast gives the root's b to the others. The root gets nil.
func (m valueCall) bcast(b []byte) (got []byte, err error) {
	n := []int64{int64(len(b))}
	room, failed, err := m.exchangeLengths(argument.KindBcast, nil, n, 1)
	if err != nil {
		return nil, err
	}
	if !m.c.isRoot(m.root) && m.root != ProcNull && failed == nil {
		got = make([]byte, room)
		b = got
	}
	return got, exchangeBytes(m, argument.KindBcast, nil, nil, b, nil, failed)
}

// scatter gives rank i part i of the root's all, the lengths of which are lens.
func (m valueCall) scatter(all []byte, lens []int64) (b []byte, err error) {
	n := []int64{0}
	if m.c.Inter() && m.root < 0 {
		n = nil
	}
	room, failed, err := m.exchangeLengths(argument.KindScatter, lens, n, 1)
	if err != nil {
		return nil, err
	}
	if failed == nil {
		b = make([]byte, room)
	}
	return b, exchangeBytes(m, argument.KindScatterv, all, ints(lens), b, nil, failed)
}

// gatherParts gives the root the send of all, and the length of each; or all ranks, with the kinds of an allgather.
// Others get nothing.
func gatherParts[T any](m valueCall, lengths, parts argument.Kind, send []T) (all []T, counts []int, err error) {
	mine, lens := []int64{int64(len(send))}, []int64(nil)
	if lengths == argument.KindAllgather || m.c.isRoot(m.root) {
		lens = make([]int64, m.c.peers())
	}
	n, failed, err := m.exchangeLengths(lengths, mine, lens, sizeOf[T]())
	if err != nil {
		return nil, nil, err
	}
	failed = cmp.Or(m.c.core().CheckNotPlace(m.what, "send", bytesOf(send)), failed)
	if failed == nil {
		all, counts = make([]T, n), ints(lens)
	}
	if err := exchangeBytes(m, parts, send, nil, all, counts, failed); err != nil || lens == nil {
		return nil, nil, err
	}
	return all, counts, nil
}

// exchangeParts gives each rank a part of send, the lengths of which are lens, and gets a part from each.
func exchangeParts[T any](m valueCall, send []T, lens []int64) (got []T, counts []int, err error) {
	theirs := make([]int64, m.c.peers())
	if err := m.exchangeCounts(lens, theirs); err != nil {
		return nil, nil, err
	}
	n, failed := m.c.core().Told(m.what, theirs, 0, sizeOf[T]())
	failed = cmp.Or(m.c.core().CheckNotPlace(m.what, "send", bytesOf(send)), failed)
	if failed == nil {
		got, counts = make([]T, n), ints(theirs)
	}
	if err := exchangeBytes(m, argument.KindAlltoallv, send, ints(lens), got, counts, failed); err != nil {
		return nil, nil, err
	}
	return got, counts, nil
}

// exchangeCounts is the collective of lengths of an exchange. A wrong number of them fails the call on all ranks.
func (m valueCall) exchangeCounts(lens, theirs []int64) error {
	var k argument.Description
	sliceCall(&k, argument.KindAlltoall, m.what, lens, theirs, 0)
	if len(lens) != len(theirs) && !m.c.Inter() {
		k.Err = m.c.core().Errorf(m.what, ": %w: %d counts for %d ranks", ErrCount, len(lens), len(theirs))
	}
	return m.c.core().Do(&k)
}

// peers is how many ranks a rank of c exchanges with: those of the other group if there is one. It is 0 for none.
func (c *Comm) peers() int {
	if c.Inter() {
		n, _ := c.RemoteSize()
		return n
	}
	return max(c.Size(), 0)
}

func ints(list []int64) []int {
	if list == nil {
		return nil
	}
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}
