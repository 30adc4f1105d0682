//go:build linux

package main

/*
#include "attrs.h"
*/
import "C"

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/golci/golci/mpi/internal/attr"
	"github.com/golci/golci/mpi/internal/errs"
)

// keyvals are the keys of the program. Their handles are the numbers of keyvals.
var keyvals handles[*keyval]

// keyval is a key and its functions in C.
type keyval struct {
	*attr.Key
	copy, delete, extra unsafe.Pointer
	number              C.int // set before others know it
}

// attributes are the values of all objects that have some, by handle.
var attributes = struct {
	mu   sync.Mutex
	sets map[owner]*attributeSet // under mu
}{sets: make(map[owner]*attributeSet)}

// owner is an object with attributes.
type owner struct {
	kind   attr.Kind
	handle uintptr
}

// attributeSet is the values of an object, with their lock.
type attributeSet struct {
	mu sync.Mutex
	*attr.Set
}

// attributesOf gives the values of an object. Without make it is nil where there are none.
func attributesOf(of owner, make bool) *attributeSet {
	attributes.mu.Lock()
	defer attributes.mu.Unlock()
	s := attributes.sets[of]
	if s == nil && make {
		s = new(attributeSet)
		s.Set = attr.NewSet(of.handle, of.kind, &s.mu)
		attributes.sets[of] = s
	}
	return s
}

// codeError is the code that a function of the program has returned.
func codeError(code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	return fmt.Errorf("%w: code %d", errs.Class(code), code)
}

// duplicates is MPI_COMM_DUP_FN and its like, as a pointer.
const duplicates = 1

//export golciKeyval
func golciKeyval(kind C.int, copies, deletes, extra unsafe.Pointer, number *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	k := &keyval{copy: copies, delete: deletes, extra: extra}
	var c attr.Copy
	switch uintptr(copies) {
	case 0:
	case duplicates:
		c = attr.Duplicate
	default:
		c = k.callCopy
	}
	var d attr.Delete
	if deletes != nil {
		d = k.callDelete
	}
	k.Key = attr.NewKey(attr.Kind(kind), c, d)
	k.number = C.int(keyvals.add(k))
	*number = k.number
	return C.MPI_SUCCESS
}

func (k *keyval) callCopy(from any, _ *attr.Key, value any) (copied any, keep bool, err error) {
	var out C.uintptr_t
	var flag C.int
	code := C.attr_call_copy(k.copy, C.uintptr_t(from.(uintptr)), k.number, k.extra, C.uintptr_t(value.(uintptr)), &out,
		&flag)
	return uintptr(out), flag != 0, codeError(code)
}

func (k *keyval) callDelete(from any, _ *attr.Key, value any) error {
	return codeError(C.attr_call_delete(k.delete, C.uintptr_t(from.(uintptr)), k.number, C.uintptr_t(value.(uintptr)),
		k.extra))
}

// key is that of a keyval.
func key(number C.int) (*keyval, error) {
	k, ok := keyvals.get(uintptr(number))
	if number < 0 || !ok {
		return nil, fmt.Errorf("%w: there is no keyval %d", errs.Keyval, number)
	}
	return k, nil
}

// let takes the number of a key away that is gone.
func (k *keyval) let() {
	if k.Gone() {
		keyvals.drop(uintptr(k.number))
	}
}

//export golciKeyvalFree
func golciKeyvalFree(kind, number C.int) (class C.int) {
	defer recovered(&class)
	begun()
	k, err := key(number)
	if err == nil {
		err = k.Free(attr.Kind(kind))
		k.let()
	}
	return classOf(err)
}

//export golciAttrSet
func golciAttrSet(kind C.int, object C.uintptr_t, number C.int, value C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	k, err := key(number)
	if err == nil {
		err = attributesOf(owner{attr.Kind(kind), uintptr(object)}, true).Put(k.Key, uintptr(value))
	}
	return classOf(err)
}

//export golciAttrGet
func golciAttrGet(kind C.int, object C.uintptr_t, number C.int, value *C.uintptr_t, flag *C.int) (class C.int) {
	defer recovered(&class)
	begun()
	*flag = 0
	k, err := key(number)
	if err != nil {
		return classOf(err)
	}
	v, ok, err := attributesOf(owner{attr.Kind(kind), uintptr(object)}, true).Get(k.Key)
	if ok {
		*value, *flag = C.uintptr_t(v.(uintptr)), 1
	}
	return classOf(err)
}

//export golciAttrDelete
func golciAttrDelete(kind C.int, object C.uintptr_t, number C.int) (class C.int) {
	defer recovered(&class)
	begun()
	k, err := key(number)
	if err == nil {
		err = attributesOf(owner{attr.Kind(kind), uintptr(object)}, true).Delete(k.Key)
		k.let()
	}
	return classOf(err)
}

//export golciAttrCopy
func golciAttrCopy(kind C.int, from, to C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	s := attributesOf(owner{attr.Kind(kind), uintptr(from)}, false)
	if s == nil || s.Len() == 0 {
		return C.MPI_SUCCESS
	}
	return classOf(s.CopyTo(attributesOf(owner{attr.Kind(kind), uintptr(to)}, true).Set))
}

//export golciAttrClear
func golciAttrClear(kind C.int, object C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(emptied(kind, object, (*attr.Set).Clear))
}

//export golciAttrDiscard
func golciAttrDiscard(kind C.int, object C.uintptr_t) (class C.int) {
	defer recovered(&class)
	begun()
	return classOf(emptied(kind, object, (*attr.Set).Discard))
}

// emptied has empty take all values of an object.
func emptied(kind C.int, object C.uintptr_t, empty func(*attr.Set) error) error {
	of := owner{attr.Kind(kind), uintptr(object)}
	s := attributesOf(of, false)
	if s == nil {
		return nil
	}
	err := empty(s.Set)
	if s.Len() == 0 {
		attributes.mu.Lock()
		delete(attributes.sets, of)
		attributes.mu.Unlock()
	}
	return err
}
