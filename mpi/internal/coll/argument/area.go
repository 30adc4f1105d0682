package argument

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/sentinel"
)

// Area is a buffer of a call as its schedule sees it: bytes in one piece, the parts in the order of the ranks. Elements
// without holes are such bytes where they lie. Others are packed before the call, and unpacked after it.
type Area struct {
	mem       unsafe.Pointer // the program's
	Bytes     int            // without holes
	span      int            // from mem to the last byte, if it is not packed
	Lens      []int          // of the parts in bytes; nil if they are equal
	Displs    []int          // where they lie in the bytes; as many
	IsInPlace bool           // it is MPI_IN_PLACE
	Packed    bool
	absolute  bool        // displacements may be addresses, as types may have them
	load      bool        // what it holds is used
	store     bool        // it is changed
	written   int         // a call that succeeds has written so many bytes from its beginning on, but for idle ones
	idle      []bool      // parts that nothing comes to or leaves from: they stay as they are; nil: none
	of        *dtype.Type // of its elements, if it is packed
	elements  int64       // of them, if the parts are equal
	parts     Parts       // if they differ
	mixed     *MixedParts // if they differ in type
	scratch   *Scratch
	Data      []byte // from begin to end: what the schedule uses
}

func errTooLong(n int64) error {
	return fmt.Errorf("%w: %d elements are too many bytes", sentinel.ErrCount, n)
}

// usableType tells why elements of a type may not travel.
func usableType(t *dtype.Type) error {
	switch {
	case t == nil:
		return fmt.Errorf("%w: there is no such datatype", sentinel.ErrType)
	case !t.Committed():
		return fmt.Errorf("%w: it has not been committed", sentinel.ErrType)
	}
	return nil
}

// setSide looks at a buffer of so many parts; 0: it is no array of parts.
func (a *Area) setSide(s *Side, parts int, name string) error {
	a.mem, a.IsInPlace = s.Mem, s.Place
	switch {
	case s.Place:
		return nil
	case s.Mixed != nil:
		a.Packed = s.Mixed.Mems != nil
		return a.setTypes(s, name)
	}
	if err := usableType(s.T); err != nil {
		return fmt.Errorf("%w (the %s buffer)", err, name)
	}
	if s.Parts.Counts != nil && parts > 0 {
		return a.setParts(s, name)
	}
	n, ok := s.T.Bytes(s.N)
	total := n * int64(max(parts, 1))
	if !ok || n > 0 && total/n != int64(max(parts, 1)) {
		return fmt.Errorf("%w: %d elements in the %s buffer", sentinel.ErrCount, s.N, name)
	}
	a.Bytes, a.span, a.Packed = int(total), int(total), !s.T.Dense()
	if a.Packed {
		a.of, a.elements = s.T, s.N*int64(max(parts, 1))
	}
	if a.mem == nil && a.Bytes > 0 && !s.T.Absolute() {
		return noMemory(name)
	}
	return nil
}

func noMemory(name string) error {
	return fmt.Errorf("%w: the %s buffer has no memory", sentinel.ErrBuffer, name)
}

// bottom tells that a part of type t at a displacement lies nowhere: there is no buffer, and neither the type nor the
// displacement is an address (MPI_BOTTOM).
func (a *Area) bottom(t *dtype.Type, displ int64) bool {
	return a.mem == nil && !t.Absolute() && !(a.absolute && displ != 0)
}

// setParts looks at parts of different lengths.
func (a *Area) setParts(s *Side, name string) error {
	_, step := s.T.Bounds()
	return a.eachPart(s, name, func(int) (*dtype.Type, int64) { return s.T, step })
}

// setTypes looks at parts of different types.
func (a *Area) setTypes(s *Side, name string) error {
	for i, t := range s.Mixed.Types {
		if err := usableType(t); err != nil {
			if s.Parts.Counts[i] == 0 {
				continue
			}
			return fmt.Errorf("%w (part %d of the %s buffer)", err, i, name)
		}
	}
	return a.eachPart(s, name, func(i int) (*dtype.Type, int64) { return s.Mixed.Types[i], 1 })
}

// eachPart measures parts: typeOf gives the type of one, and how many bytes its displacement counts.
func (a *Area) eachPart(s *Side, name string, typeOf func(i int) (*dtype.Type, int64)) error {
	n := len(s.Parts.Counts)
	if len(s.Parts.Displs) != n {
		return fmt.Errorf("%w: the %s buffer has no displacements", sentinel.ErrArgument, name)
	}
	a.Lens, a.Displs = make([]int, n), make([]int, n)
	for i, count := range s.Parts.Counts {
		t, step := typeOf(i)
		if count == 0 {
			continue
		}
		b, ok := t.Bytes(int64(count))
		if !ok || a.Bytes+int(b) < a.Bytes {
			return fmt.Errorf("%w: part %d of the %s buffer has %d elements", sentinel.ErrCount, i, name, count)
		}
		if b == 0 { // wherever it lies
			continue
		}
		at := int64(s.Parts.Displs[i]) * step
		if (s.Mixed == nil || s.Mixed.Mems == nil) && a.bottom(t, at) {
			return noMemory(name)
		}
		a.Lens[i], a.Displs[i] = int(b), int(at)
		a.Bytes += int(b)
		a.span = max(a.span, int(at+b))
		a.Packed = a.Packed || at < 0 || !t.Dense() || a.mem == nil
	}
	if a.Packed {
		a.of, a.parts, a.mixed = s.T, s.Parts, s.Mixed
		at := 0
		for i, b := range a.Lens {
			a.Displs[i] = at
			at += b
		}
	}
	return nil
}

// sumParts makes s as long as all parts, and out as long as the part of rank. Where s is MPI_IN_PLACE, out is all
// parts.
func (s *Side) sumParts(p *Parts, rank int, out *Side) error {
	s.N = 0
	for i, n := range p.Counts {
		if n < 0 || s.N+int64(n) < s.N {
			return fmt.Errorf("%w: part %d has %d elements", sentinel.ErrCount, i, n)
		}
		s.N += int64(n)
	}
	if out.N = int64(p.Counts[rank]); s.Place {
		out.N = s.N
	}
	return nil
}

// BeginArea gives the bytes for the schedule. Those of a packed area have unknown content, unless they are used.
func (a *Area) BeginArea() {
	switch {
	case a.IsInPlace || a.Bytes == 0:
		a.Data = nil
	case !a.Packed:
		a.Data = unsafe.Slice((*byte)(a.mem), a.span)
	default:
		a.Data, a.scratch = Borrow(a.Bytes)
		if a.load {
			a.movePacked(a.Bytes, (*dtype.Cursor).Pack)
		}
	}
}

// endArea shows the program what the schedule has written, and lets go of the memory.
func (a *Area) endArea(store bool) {
	if a.Packed && a.Data != nil {
		if store && a.store {
			a.movePacked(a.written, (*dtype.Cursor).Unpack)
		}
		a.scratch.Release()
	}
	*a = Area{}
}

// movePacked packs or unpacks the first n bytes, but for parts that are not used.
func (a *Area) movePacked(n int, f func(c *dtype.Cursor, b []byte, off int)) {
	var cur dtype.Cursor
	switch {
	case a.Lens != nil:
		a.moveParts(f)
	case a.idle != nil:
		a.moveEqual(f)
	default:
		a.of.Over(&cur, a.mem, a.elements)
		f(&cur, a.Data[:n], 0)
	}
}

// moveEqual is movePacked for equal parts of which some are not used.
func (a *Area) moveEqual(f func(c *dtype.Cursor, b []byte, off int)) {
	var cur dtype.Cursor
	parts := len(a.idle)
	n, each := a.elements/int64(parts), a.Bytes/parts
	_, extent := a.of.Bounds()
	for i, idle := range a.idle {
		if idle {
			continue
		}
		a.of.Over(&cur, unsafe.Add(a.mem, int64(i)*n*extent), n)
		f(&cur, a.Data[i*each:][:each], 0)
	}
}

// moveParts is movePacked for parts of different lengths.
func (a *Area) moveParts(f func(c *dtype.Cursor, b []byte, off int)) {
	var cur dtype.Cursor
	p := &a.parts
	for i, b := range a.Lens {
		if b == 0 || a.idle != nil && a.idle[i] {
			continue
		}
		t, step := a.of, int64(1)
		if a.mixed != nil {
			t = a.mixed.Types[i]
		} else {
			_, step = t.Bounds()
		}
		if a.mixed != nil && a.mixed.Mems != nil {
			t.Over(&cur, a.mixed.Mems[i], int64(p.Counts[i]))
		} else {
			t.Over(&cur, unsafe.Add(a.mem, int64(p.Displs[i])*step), int64(p.Counts[i]))
		}
		f(&cur, a.Data[a.Displs[i]:][:b], 0)
	}
}
