package coll

import (
	"github.com/golci/golci/mpi/internal/coll/argument"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// checkNotPlace checks that a buffer is one.
func (x *Call) checkNotPlace(name string, b []byte) error {
	if argument.IsInPlace(b) {
		return x.callErrorf(sentinel.ErrBuffer, "InPlace is no %s buffer on this rank", name)
	}
	return nil
}

// apart checks that two buffers are that, and do not overlap.
func (x *Call) apart(a, b []byte) error {
	switch {
	case argument.IsInPlace(b):
		return x.callErrorf(sentinel.ErrBuffer, "InPlace is given for the wrong buffer")
	case !x.args.Active && argument.Overlap(a, b): // else fit has looked
		return x.callErrorf(sentinel.ErrBuffer, "send and receive buffer overlap; see InPlace")
	}
	return nil
}

// equalOwn is the rank's own part: b, or its part in all if b is InPlace. all is the buffer called name, with equal
// parts for all ranks. Elements have elem bytes.
func (x *Call) equalOwn(b, all []byte, name string, elem int) ([]byte, error) {
	elem = max(elem, 1)
	each := len(b)
	if argument.IsInPlace(b) {
		if each = len(all) / x.size; len(all)%(x.size*elem) != 0 {
			return nil, x.callErrorf(sentinel.ErrCount, "%d elements are no whole number for each of %d ranks", len(all)/elem,
				x.size)
		}
		b = all[x.rank*each:][:each]
		return b, x.checkNotPlace(name, all)
	}
	if err := x.apart(b, all); err != nil {
		return nil, err
	}
	return b, x.lengthFor(name, len(all)/elem, each/elem*x.size)
}

// partOwn is the rank's own part: b, or its part in all if b is InPlace. l tells where the parts are in all. verb
// says what happens to the part.
func (x *Call) partOwn(b, all []byte, l layout, verb string, elem int) ([]byte, error) {
	if argument.IsInPlace(b) {
		return l.partBytes(all, x.rank, elem), nil
	}
	if n := len(b) / max(elem, 1); elem > 0 && l.counts[x.rank] != n {
		return nil, x.callErrorf(sentinel.ErrCount, "%d elements to %s, and counts[%d] is %d", n, verb, x.rank,
			l.counts[x.rank])
	}
	return b, x.apart(b, all)
}

// checkRoot checks the root of a call of one group.
func (x *Call) checkRoot(root int) error {
	if uint(root) >= uint(x.size) {
		return x.callErrorf(sentinel.ErrRoot, "%d", root)
	}
	return nil
}

// lengthFor checks that a buffer of got elements takes want.
func (x *Call) lengthFor(name string, got, want int) error {
	if got < want {
		return x.callErrorf(sentinel.ErrCount, "the %s buffer has %d elements, %d are needed", name, got, want)
	}
	return nil
}

// CheckNotPlace checks, for the function what, that a buffer is no InPlace.
func CheckNotPlace(c Communicator, what, name string, b []byte) error {
	if argument.IsInPlace(b) {
		return c.Errorf(what, ": %w: InPlace is no %s buffer on this rank", sentinel.ErrBuffer, name)
	}
	return nil
}
