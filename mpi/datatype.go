package mpi

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/golci/golci/comm"
	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/signature"
)

// Datatype says which elements of a slice travel, and in which order (5.1). It is made of ElementOf or TypeOf by its
// methods, and does not change. Lengths, displacements and strides count elements of the slice. The zero Datatype is
// invalid.
type Datatype[T any] struct {
	t  *dtype.Type
	of *signature.Elem // what its elements are compared by, where types are checked; nil: as t says
}

// ElementOf is one element as it lies in memory, with what is between the fields of a struct. Error: ErrType for
// elements that cannot travel.
func ElementOf[T any]() (Datatype[T], error) {
	e := elemOf[T]()
	if err := e.Err(); err != nil {
		return Datatype[T]{}, fmt.Errorf("mpi: ElementOf: %w", err)
	}
	return Datatype[T]{}.with("ElementOf", e)(dtype.Contiguous(int64(sizeOf[T]()), dtype.Named(dtype.Byte)))
}

// TypeOf is one element by its fields, found by reflection: nothing of what is between them travels (5.1.2,
// MPI_Type_create_struct). So a program in C may receive it as such a datatype. Error: ErrType for elements that cannot
// travel.
func TypeOf[T any]() (Datatype[T], error) {
	if err := elemOf[T]().Err(); err != nil {
		return Datatype[T]{}, fmt.Errorf("mpi: TypeOf: %w", err)
	}
	return Datatype[T]{}.with("TypeOf", nil)(fieldsOf(reflect.TypeFor[T]()))
}

// fieldsOf is the datatype of t, whose elements may travel.
func fieldsOf(t reflect.Type) (*dtype.Type, error) {
	switch t.Kind() {
	case reflect.Array:
		e, err := fieldsOf(t.Elem())
		if err != nil {
			return nil, err
		}
		return dtype.Contiguous(int64(t.Len()), e)
	case reflect.Struct:
		n := t.NumField()
		lengths, displs, types := make([]int64, n), make([]int64, n), make([]*dtype.Type, n)
		for i := range n {
			f := t.Field(i)
			e, err := fieldsOf(f.Type)
			if err != nil {
				return nil, err
			}
			lengths[i], displs[i], types[i] = 1, int64(f.Offset), e
		}
		s, err := dtype.Struct(lengths, displs, types)
		if err != nil {
			return nil, err
		}
		return dtype.Resized(0, int64(t.Size()), s)
	}
	return basicFor(t), nil
}

// with commits what a constructor of package dtype has made, for the function what.
func (Datatype[T]) with(what string, of *signature.Elem) func(t *dtype.Type, err error) (Datatype[T], error) {
	return func(t *dtype.Type, err error) (Datatype[T], error) {
		if err != nil {
			return Datatype[T]{}, fmt.Errorf("mpi: %s: %w", what, err)
		}
		t.Commit()
		return Datatype[T]{t, of}, nil
	}
}

// made is with for a datatype that is made of d.
func (d Datatype[T]) made(what string, f func(t *dtype.Type) (*dtype.Type, error)) (Datatype[T], error) {
	if d.t == nil {
		return d, fmt.Errorf("mpi: %s: %w: the zero Datatype", what, ErrType)
	}
	return d.with(what, d.of)(f(d.t))
}

// wide gives numbers as package dtype wants them, times unit.
func wide(list []int, unit int) []int64 {
	all := make([]int64, len(list))
	for i, n := range list {
		all[i] = int64(n) * int64(unit)
	}
	return all
}

// Contiguous is n times d, one behind the other (MPI_Type_contiguous). Errors: those of class ARG and TYPE.
func (d Datatype[T]) Contiguous(n int) (Datatype[T], error) {
	return d.made("Contiguous", func(t *dtype.Type) (*dtype.Type, error) { return dtype.Contiguous(int64(n), t) })
}

// Vector is s.Count blocks of s.Block times d, s.Stride elements of the slice apart (MPI_Type_create_hvector).
func (d Datatype[T]) Vector(s Strided) (Datatype[T], error) {
	return d.made("Vector", func(t *dtype.Type) (*dtype.Type, error) {
		return dtype.Hvector(int64(s.Count), int64(s.Block), int64(s.Stride*sizeOf[T]()), t)
	})
}

// Indexed is blocks of lengths[i] times d at element displs[i] (MPI_Type_create_hindexed).
func (d Datatype[T]) Indexed(lengths, displs []int) (Datatype[T], error) {
	return d.made("Indexed", func(t *dtype.Type) (*dtype.Type, error) {
		return dtype.Hindexed(wide(lengths, 1), wide(displs, sizeOf[T]()), t)
	})
}

// IndexedBlock is Indexed with blocks of one length (MPI_Type_create_hindexed_block).
func (d Datatype[T]) IndexedBlock(length int, displs []int) (Datatype[T], error) {
	return d.made("IndexedBlock", func(t *dtype.Type) (*dtype.Type, error) {
		return dtype.HindexedBlock(int64(length), wide(displs, sizeOf[T]()), t)
	})
}

// Subarray is the part of an array of d with these sizes that begins at starts and has subsizes; the last index runs
// fastest (MPI_Type_create_subarray). Its extent is that of the array.
func (d Datatype[T]) Subarray(sizes, subsizes, starts []int) (Datatype[T], error) {
	return d.made("Subarray", func(t *dtype.Type) (*dtype.Type, error) {
		return dtype.Subarray(wide(sizes, 1), wide(subsizes, 1), wide(starts, 1), dtype.OrderC, t)
	})
}

// Resized is d with another extent: the next of several begins so many elements of the slice behind it
// (MPI_Type_create_resized).
func (d Datatype[T]) Resized(extent int) (Datatype[T], error) {
	return d.made("Resized", func(t *dtype.Type) (*dtype.Type, error) {
		return dtype.Resized(0, int64(extent*sizeOf[T]()), t)
	})
}

// Size is how many bytes travel (MPI_Type_size).
func (d Datatype[T]) Size() int {
	if d.t == nil {
		return 0
	}
	return int(d.t.Size())
}

// buf is count times d in s, for the function what. All places are within s.
func (d Datatype[T]) buf(what string, s []T, count int) (core.Buf, error) {
	if d.t == nil {
		return core.Buf{}, fmt.Errorf("mpi: %s: %w: the zero Datatype", what, ErrType)
	}
	if _, ok := d.t.Bytes(int64(count)); !ok {
		return core.Buf{}, fmt.Errorf("mpi: %s: %w: %d times %d bytes", what, ErrCount, count, d.t.Size())
	}
	if count > 0 && d.t.Size() > 0 {
		first, span := d.t.TrueBounds()
		_, step := d.t.Bounds()
		last := step * int64(count-1)
		low, high := min(first, first+last), max(first+span, first+span+last)
		if room := int64(len(s)) * int64(sizeOf[T]()); low < 0 || high > room || step != 0 && last/step != int64(count-1) {
			return core.Buf{}, fmt.Errorf("mpi: %s: %w: %d times the datatype are bytes %d to %d of %d", what, ErrCount,
				count, low, high, room)
		}
	}
	return core.Buf{Mem: unsafe.Pointer(unsafe.SliceData(s)), N: int64(count), T: d.t, Of: d.of}, nil
}

// SendTyped is Send of count times d in buf. The receiver may have another datatype with the same elements, or a slice
// of them. Errors: those of Send, and ErrCount if d is not within buf.
func SendTyped[T any](c *Comm, buf []T, d Datatype[T], count, dest, tag int) error {
	b, err := d.buf("SendTyped", buf, count)
	if err != nil {
		return err
	}
	return c.core().SendBuf("SendTyped", b, dest, tag, comm.Standard)
}

// IsendTyped is SendTyped that only starts. buf must not be changed until the request is done.
func IsendTyped[T any](c *Comm, buf []T, d Datatype[T], count, dest, tag int) (Request, error) {
	b, err := d.buf("IsendTyped", buf, count)
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().IsendBuf("IsendTyped", b, dest, tag, comm.Standard)
	return Request(r), err
}

// RecvTyped is Recv into count times d in buf. Other elements stay as they are. Errors: those of Recv, and ErrCount if
// d is not within buf.
func RecvTyped[T any](c *Comm, buf []T, d Datatype[T], count, source, tag int) (Status, error) {
	b, err := d.buf("RecvTyped", buf, count)
	if err != nil {
		return Status{}, err
	}
	return status(c.core().RecvBuf("RecvTyped", b, source, tag))
}

// IrecvTyped is RecvTyped that only starts. buf must not be touched until the request is done; truncation shows when it
// is waited for.
func IrecvTyped[T any](c *Comm, buf []T, d Datatype[T], count, source, tag int) (Request, error) {
	b, err := d.buf("IrecvTyped", buf, count)
	if err != nil {
		return Request{}, err
	}
	r, err := c.core().IrecvBuf("IrecvTyped", b, source, tag)
	return Request(r), err
}

// Pack appends the bytes of count times d in buf to to (5.2, MPI_Pack). Errors: ErrCount if d is not within buf,
// ErrMemory for more bytes than this process may have.
func (d Datatype[T]) Pack(to []byte, buf []T, count int) ([]byte, error) {
	b, err := d.buf("Pack", buf, count)
	if err != nil {
		return to, err
	}
	if err := comm.CheckAlloc(int64(d.Size()) * int64(count)); err != nil {
		return to, fmt.Errorf("mpi: Pack: %w", err)
	}
	at := len(to)
	to = append(to, make([]byte, d.Size()*count)...)
	if _, err := b.Pack(to[at:]); err != nil {
		return to[:at], fmt.Errorf("mpi: Pack: %w", err)
	}
	return to, nil
}

// Unpack sets count times d in buf to the bytes at the beginning of from, and gives what is behind them (MPI_Unpack).
// Errors: ErrCount if d is not within buf, ErrArgument if there are fewer bytes.
func (d Datatype[T]) Unpack(from []byte, buf []T, count int) ([]byte, error) {
	b, err := d.buf("Unpack", buf, count)
	if err != nil {
		return from, err
	}
	n, err := b.Unpack(from)
	if err != nil {
		return from, fmt.Errorf("mpi: Unpack: %w", err)
	}
	return from[n:], nil
}
