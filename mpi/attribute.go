package mpi

import (
	"fmt"

	"github.com/golci/golci/mpi/internal/attr"
)

// Key names values of type V that a program keeps with communicators (7.7). Libraries use them to find what they have
// made for a communicator, and to learn of its end. Any number of goroutines may use a Key.
type Key[V any] struct{ k *attr.Key }

// NewKey makes a key (7.7.2, MPI_Comm_create_keyval). When a communicator is duplicated, by Dup, DupWith or Idup, copy
// gives the value for the duplicate from that of c; it has none if !keep. An error makes the duplication fail. A nil
// copy keeps nothing: see Keep. drop is called when a value goes: it is deleted or replaced, or its communicator is
// freed. With an error the value stays, and that call fails. A nil drop agrees.
func NewKey[V any](copy func(c *Comm, v V) (copied V, keep bool, err error), drop func(c *Comm, v V) error) *Key[V] {
	var f attr.Copy
	if copy != nil {
		f = func(from any, _ *attr.Key, v any) (any, bool, error) { return copy(from.(*Comm), v.(V)) }
	}
	var d attr.Delete
	if drop != nil {
		d = func(of any, _ *attr.Key, v any) error { return drop(of.(*Comm), v.(V)) }
	}
	return &Key[V]{attr.NewKey(attr.Comm, f, d)}
}

// Keep is a copy function for NewKey: a duplicate has the same value (MPI_COMM_DUP_FN).
func Keep[V any](_ *Comm, v V) (V, bool, error) { return v, true, nil }

// Set keeps v with c (7.7.2, MPI_Comm_set_attr). It is local. The drop function of the key is called with an older
// value. Errors: that of the function, ErrKeyval for a key that was freed, ErrComm.
func (k *Key[V]) Set(c *Comm, v V) error {
	if err := k.checkUsable(c); err != nil {
		return err
	}
	return failedKey("Set", c.attributes().Put(k.k, v))
}

// Get is the value that c has; !ok: none (7.7.2, MPI_Comm_get_attr). It is local. Errors: ErrKeyval, ErrComm.
func (k *Key[V]) Get(c *Comm) (v V, ok bool, err error) {
	if err := k.checkUsable(c); err != nil {
		return v, false, err
	}
	x, ok, err := c.attributes().Get(k.k)
	if ok {
		v = x.(V)
	}
	return v, ok, failedKey("Get", err)
}

// Delete takes the value of c away, if it has one (7.7.2, MPI_Comm_delete_attr). It is local. Errors as for Set.
func (k *Key[V]) Delete(c *Comm) error {
	if err := k.checkUsable(c); err != nil {
		return err
	}
	return failedKey("Delete", c.attributes().Delete(k.k))
}

// Free says that no further values will be set (7.7.2, MPI_Comm_free_keyval). Those that there are stay. ErrKeyval: the
// last of them is gone, too.
func (k *Key[V]) Free() error {
	if k == nil {
		return failedKey("Free", (*attr.Key)(nil).Free(attr.Comm))
	}
	return failedKey("Free", k.k.Free(attr.Comm))
}

func (k *Key[V]) checkUsable(c *Comm) error {
	if _, err := c.WorldRank(0); err != nil {
		return err
	}
	if k == nil {
		return fmt.Errorf("mpi: %w: nil", ErrKeyval)
	}
	return nil
}

func failedKey(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("mpi: Key.%s: %w", what, err)
}

// attributes are the values of c.
func (c *Comm) attributes() *attr.Set {
	return c.core().Attributes(func(l attr.Locker) *attr.Set {
		return attr.NewSet(c.origin(), attr.Comm, l)
	})
}

// origin is the communicator that c is a view of, else c.
func (c *Comm) origin() *Comm { return (*Comm)(c.core().Origin()) }

// inherit gives a duplicate of c its attributes. If a copy function fails, there is no duplicate.
func (c *Comm) inherit(d *Comm, err error) (*Comm, error) {
	if err != nil || d == nil {
		return d, err
	}
	if err := c.attributes().CopyTo(d.attributes()); err != nil {
		_ = d.core().Free() // the cause is told
		return nil, fmt.Errorf("mpi: Dup: %w", err)
	}
	return d, nil
}
