package attr

import (
	"errors"
	"fmt"
	"slices"

	"github.com/golci/golci/mpi/internal/errs"
)

// Locker is a lock, such as a *sync.Mutex.
type Locker interface {
	Lock()
	Unlock()
}

// Set has the values of one object. Its calls hold the lock only while they look at the list, never while they call a
// function of a key. So these functions may look up, set and delete values of the same object.
type Set struct {
	of   any
	kind Kind
	lock Locker // guards list and leaving of its entries

	list []*entry // in the order in which the values were set
}

type entry struct {
	key     *Key
	value   any
	leaving bool // its delete function is being called
}

// NewSet is the set of an object, which the functions of keys get. A nil lock says that one goroutine uses it.
func NewSet(of any, kind Kind, lock Locker) *Set {
	if lock == nil {
		lock = free{}
	}
	return &Set{of: of, kind: kind, lock: lock}
}

// free is the lock of what is not shared.
type free struct{}

func (free) Lock()   {}
func (free) Unlock() {}

// findEntry is the entry of a key, or nil. The caller holds the lock.
func (s *Set) findEntry(k *Key) *entry {
	for _, e := range s.list {
		if e.key == k {
			return e
		}
	}
	return nil
}

// Get is the value under a key (MPI_Comm_get_attr); !ok: there is none. It works for freed keys with values.
// errs.Keyval: the key is for another kind of object, or is gone.
func (s *Set) Get(k *Key) (value any, ok bool, err error) {
	if err := k.checkKind(s.kind); err != nil {
		return nil, false, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if e := s.findEntry(k); e != nil {
		return e.value, true, nil
	}
	return nil, false, nil
}

// Put sets the value under a key (MPI_Comm_set_attr). The delete function is called with an older value first. If it
// fails, its error is returned and the older value stays. errs.Keyval: the key is for another kind of object, or was
// freed, or its delete function for this object is running.
func (s *Set) Put(k *Key, value any) error {
	if err := k.checkKind(s.kind); err != nil {
		return err
	}
	if k.freed.Load() || !k.holdKey() {
		return fmt.Errorf("%w: it was freed", errs.Keyval)
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	old := s.findEntry(k)
	if old != nil {
		if old.leaving {
			k.releaseKey()
			return fmt.Errorf("%w: a value is set while that under the key is deleted", errs.Keyval)
		}
		if err := s.removeEntry(old); err != nil {
			k.releaseKey()
			return err
		}
	}
	s.list = append(s.list, &entry{key: k, value: value})
	return nil
}

// Delete takes the value under a key away (MPI_Comm_delete_attr), after its delete function has agreed. Without a
// value, or while that function is running, it does nothing. Errors are those of the function and of Get.
func (s *Set) Delete(k *Key) error {
	if err := k.checkKind(s.kind); err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	e := s.findEntry(k)
	if e == nil || e.leaving {
		return nil
	}
	return s.removeEntry(e)
}

// Clear deletes all values, the last one that was set first, because the object is freed. It goes on until none is
// left, so it deletes what a delete function sets, too. It stops at the first error of a function: that value and
// those set before it stay, and Clear may be called again.
func (s *Set) Clear() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		e := s.last()
		if e == nil {
			return nil
		}
		if err := s.removeEntry(e); err != nil {
			return err
		}
	}
}

// Discard is Clear for an object that vanishes in any case: values go even if their functions fail. It returns all
// errors, joined.
func (s *Set) Discard() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	var failures []error
	for {
		e := s.last()
		if e == nil {
			return errors.Join(failures...)
		}
		e.leaving = true
		failures = append(failures, s.callDelete(e))
		s.dropEntry(e)
	}
}

// last is the last entry that nobody is removing. The caller holds the lock.
func (s *Set) last() *entry {
	for _, e := range slices.Backward(s.list) {
		if !e.leaving {
			return e
		}
	}
	return nil
}

// removeEntry calls the delete function of an entry and takes it away. The caller holds the lock, which is free
// meanwhile.
func (s *Set) removeEntry(e *entry) error {
	e.leaving = true
	if err := s.callDelete(e); err != nil {
		e.leaving = false
		return err
	}
	s.dropEntry(e)
	return nil
}

// dropEntry takes an entry away that is leaving. The caller holds the lock.
func (s *Set) dropEntry(e *entry) {
	at := slices.Index(s.list, e)
	s.list = slices.Delete(s.list, at, at+1)
	e.key.releaseKey()
}

func (s *Set) callDelete(e *entry) error {
	if e.key.delete == nil {
		return nil
	}
	s.lock.Unlock()
	defer s.lock.Lock()
	return failed("delete", s.kind, e.key.delete(s.of, e.key, e.value))
}

// CopyTo gives the set of a duplicate of the object what the copy functions say, in the order in which the values were
// set. After the first error of a function it discards what it has copied, the last one first, and returns the error,
// joined with those of delete functions. The class is that of the first error.
func (s *Set) CopyTo(to *Set) error {
	s.lock.Lock()
	list := slices.Clone(s.list)
	s.lock.Unlock()
	for _, e := range list {
		if err := s.copyEntry(e, to); err != nil {
			return errors.Join(err, to.Discard())
		}
	}
	return nil
}

// copyEntry holds the key of the entry meanwhile, which another goroutine may be deleting.
func (s *Set) copyEntry(e *entry, to *Set) error {
	k := e.key
	if k.copy == nil || !k.holdKey() {
		return nil
	}
	value, keep, err := k.copy(s.of, k, e.value)
	if err != nil || !keep {
		k.releaseKey()
		return failed("copy", s.kind, err)
	}
	to.lock.Lock()
	defer to.lock.Unlock()
	to.list = append(to.list, &entry{key: k, value: value})
	return nil
}

// failed is the error of a function. It keeps the class, and is of errs.Other without one.
func failed(what string, kind Kind, err error) error {
	if err == nil {
		return nil
	}
	var c errs.Class
	if errors.As(err, &c) {
		return fmt.Errorf("%s function of a key for %v: %w", what, kind, err)
	}
	return fmt.Errorf("%w: %s function of a key for %v: %w", errs.Other, what, kind, err)
}

// Len is the number of values.
func (s *Set) Len() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.list)
}
