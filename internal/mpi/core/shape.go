package core

import (
	"errors"
	"fmt"
	"hash/fnv"
	"reflect"
	"sync"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/internal/settings"
)

// The shape of a type stands for its basic elements: their kinds, in order, and where they lie. Names, nesting and
// the number of elements in one T do not count. So float64, a named float64, [2]float64 and a struct of two float64
// have one shape, as they have one type signature in MPI (3.3.1). int and int64 are one kind, and so are uint,
// uintptr and uint64, because all are of 64 bits. Bytes match nothing but bytes.

// shapes names a type of each shape that this program has used, for errors.
var shapes sync.Map // uint64 to reflect.Type

// basic is one number in the memory of a type.
type basic struct {
	off  uintptr
	kind reflect.Kind
}

// shapeOf computes the shape of a type that may travel, and notes its name. It is not 0.
func shapeOf(t reflect.Type) uint64 {
	named := t
	for t.Kind() == reflect.Array && t.Len() > 0 {
		t = t.Elem() // the same shape, and a short list
	}
	list := basics(nil, 0, t)
	size := t.Size()
	n := period(list, size)
	h := fnv.New64a()
	fmt.Fprint(h, uintptr(n)*size/uintptr(max(len(list), 1)))
	for _, b := range list[:n] {
		fmt.Fprint(h, ",", b.off, b.kind)
	}
	shape := h.Sum64() | 1
	shapes.LoadOrStore(shape, named)
	return shape
}

// basics appends what is at off.
func basics(list []basic, off uintptr, t reflect.Type) []basic {
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			list = basics(list, off+uintptr(i)*t.Elem().Size(), t.Elem())
		}
	case reflect.Struct:
		for i := range t.NumField() {
			list = basics(list, off+t.Field(i).Offset, t.Field(i).Type)
		}
	case reflect.Int:
		list = append(list, basic{off, reflect.Int64})
	case reflect.Uint, reflect.Uintptr:
		list = append(list, basic{off, reflect.Uint64})
	default:
		list = append(list, basic{off, t.Kind()})
	}
	return list
}

// period gives the fewest basics of which the list, in size bytes, is a repetition.
func period(list []basic, size uintptr) int {
	for n := 1; n < len(list); n++ {
		if len(list)%n == 0 && repeats(list, n, size/uintptr(len(list)/n), size) {
			return n
		}
	}
	return len(list)
}

// repeats reports whether the list consists of its first n basics, every stride bytes.
func repeats(list []basic, n int, stride, size uintptr) bool {
	if stride*uintptr(len(list)/n) != size {
		return false
	}
	for i := n; i < len(list); i++ {
		if list[i].kind != list[i-n].kind || list[i].off != list[i-n].off+stride {
			return false
		}
	}
	return true
}

// checked tells whether a rank checks types. Ranks of one process do, unless told otherwise.
func checked(set *settings.Set, inProcess bool) bool {
	switch settings.Check.Get(set) {
	case "types":
		return true
	case "off":
		return false
	}
	return inProcess
}

// shape is what messages of elements e are compared by, 0 where types are not checked.
func (c *Comm) shape(e *Elem) uint64 {
	if !c.checked || e.err != nil {
		return 0
	}
	return e.shape()
}

// typed names the types where an error tells that they differ.
func typed(err error) error {
	var e *comm.ShapeError
	if !errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w: the message has elements of %s, the receive of %s",
		ErrType, shapeName(e.Sent), shapeName(e.Received))
}

// shapeName names a type of that shape, if this process has used one.
func shapeName(shape uint64) string {
	if t, ok := shapes.Load(shape); ok {
		return t.(reflect.Type).String()
	}
	return "another type, which this process does not know"
}
