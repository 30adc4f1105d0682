package realm

import (
	"fmt"
	"reflect"

	"github.com/golci/golci/realm/internal/space"
)

// Field is a value that every point of an instance has.
type Field struct {
	f     space.Field
	typ   reflect.Type
	wrong error
}

// FieldOf is a field of that name with values of type T, which must not hold pointers, nor strings, maps and the like.
func FieldOf[T any](name string) Field {
	t := reflect.TypeFor[T]()
	f := Field{f: space.Field{Name: name, Size: int64(t.Size()), Align: int64(t.Align())}, typ: t}
	if !pointerFree(t) {
		f.wrong = fmt.Errorf("%w: field %q of type %v holds pointers", ErrArgument, name, t)
	}
	return f
}

// Layout is how the elements of an instance lie in memory: SOA, AOS or Strided. It is Realm's InstanceLayout.
type Layout interface {
	// layout is that of fields over the points of s.
	layout(s Space, fields []space.Field) (*space.Layout, error)
}

// Order is a layout without gaps, in which the last coordinate moves fastest.
type Order uint8

// Orders.
const (
	SOA Order = iota // structure of arrays: each field has an array of its own
	AOS              // array of structures: the fields of a point lie together, as Go has them in a struct
)

func (o Order) layout(s Space, fields []space.Field) (*space.Layout, error) {
	switch o {
	case AOS:
		return space.AOS(s, fields)
	case SOA:
		return space.SOA(s, fields)
	}
	return nil, fmt.Errorf("order %d", o)
}

// Place is where the elements of a field lie: that of the least coordinates at byte Base, and Stride[d] bytes from each
// point to the next one in dimension d. A sparse space has one stride, from each point to the next one. It is Realm's
// AffineLayoutPiece.
type Place = space.Place

// Strided is a layout that has a place for each field. Strides may be negative. Bases and strides are multiples of the
// alignment of the field. Elements of one field must not overlap; those of two fields may.
type Strided []Place

func (l Strided) layout(s Space, fields []space.Field) (*space.Layout, error) {
	return space.Strided(s, fields, l, -1)
}
