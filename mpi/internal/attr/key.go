// Package attr has the attributes of MPI (7.7): values that programs cache with communicators, datatypes and windows,
// under keys with functions that are called when the value is copied or deleted.
package attr

import (
	"fmt"
	"sync/atomic"

	"github.com/golci/golci/mpi/internal/errs"
)

// Kind is the kind of object that a key is for.
type Kind uint8

// Kinds of objects.
const (
	Comm Kind = iota
	Type
	Win
)

// String is the standard's prefix of calls for the kind.
func (k Kind) String() string { return [...]string{"Comm", "Type", "Win"}[k] }

// Copy tells what becomes of a value when its object, from, is duplicated: the value for the new object, or !keep if it
// gets none. What the standard calls extra state is what the function closes over. Its error ends the duplication. If
// the error wraps an errs.Class, that is the code of the function.
type Copy func(from any, k *Key, value any) (copied any, keep bool, err error)

// Delete is told that the value is about to go, because it is deleted or replaced, or its object is freed. With an
// error it stays. The error is as for Copy.
type Delete func(from any, k *Key, value any) error

// Duplicate is MPI_COMM_DUP_FN and its like: the new object gets the same value.
func Duplicate(_ any, _ *Key, value any) (any, bool, error) { return value, true, nil }

// Key is what the standard calls a keyval. Any number of goroutines may use one.
type Key struct {
	kind   Kind
	copy   Copy   // nil: the new object gets nothing
	delete Delete // nil: nobody is told

	freed atomic.Bool
	used  atomic.Int64 // 1 until it is freed, and 1 for each value under it; at 0 it never rises again
}

// NewKey is a key for objects of that kind (MPI_Comm_create_keyval, 7.7.2). nil is the null function.
func NewKey(kind Kind, c Copy, d Delete) *Key {
	k := &Key{kind: kind, copy: c, delete: d}
	k.used.Store(1)
	return k
}

// Kind is what the key is for.
func (k *Key) Kind() Kind { return k.kind }

// Free says that nobody will set values under the key any more (MPI_Comm_free_keyval). Values that exist stay, and
// their functions are called. While there are such values, further calls have no effect. errs.Keyval: the key is for
// another kind of object, or is gone.
func (k *Key) Free(kind Kind) error {
	if err := k.checkKind(kind); err != nil {
		return err
	}
	if k.freed.CompareAndSwap(false, true) {
		k.releaseKey()
	}
	return nil
}

// Gone tells that the key was freed and that no value under it is left, so that its number may be given to another key.
func (k *Key) Gone() bool { return k.used.Load() == 0 }

// checkKind tells whether values under the key may be looked for on such an object.
func (k *Key) checkKind(kind Kind) error {
	switch {
	case k == nil:
		return fmt.Errorf("%w: there is none", errs.Keyval)
	case k.kind != kind:
		return fmt.Errorf("%w: a key for %v used for %v", errs.Keyval, k.kind, kind)
	case k.Gone():
		return fmt.Errorf("%w: it was freed", errs.Keyval)
	}
	return nil
}

// holdKey keeps the key for one value more; !ok: it is gone.
func (k *Key) holdKey() (ok bool) {
	for {
		n := k.used.Load()
		if n == 0 || k.used.CompareAndSwap(n, n+1) {
			return n != 0
		}
	}
}

func (k *Key) releaseKey() { k.used.Add(-1) }
