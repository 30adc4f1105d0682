package space

import (
	"fmt"
	"unsafe"
)

// Filling is the plan to give one field of some points the same value. Its stream has the bytes of the field, in the
// order of a Plan.
type Filling struct {
	c     Cursor
	value []byte
}

// NewFilling is the plan to write value, an element of field f, to the points of the layout in mem. value is not
// copied. Errors: ErrPoints, ErrFields, ErrSpace, errMemory.
func NewFilling(l *Layout, points Space, f int, value, mem []byte) (*Filling, error) {
	if f < 0 || f >= len(l.fields) || int64(len(value)) != l.fields[f].Size {
		return nil, fmt.Errorf("%w: value of %d bytes for field %d", ErrFields, len(value), f)
	}
	g := []group{{len: int64(len(value)), dst: l.places[f], src: l.places[f], field: f}}
	p, err := build(l, nil, points, g, !l.space.Dense() || !points.Dense(), nil)
	if err != nil {
		return nil, err
	}
	c, err := p.Over(mem, nil)
	if err != nil {
		return nil, err
	}
	return &Filling{*c, value}, nil
}

// Size is the number of bytes that Fill writes.
func (f *Filling) Size() int64 { return f.c.plan.size }

// Fill writes n bytes of the stream from byte off on, all that there are if n is larger, and returns the offset behind
// them.
func (f *Filling) Fill(off, n int64) int64 {
	n = min(n, f.c.plan.size-off)
	var r Run
	for off >= 0 && n > 0 {
		f.c.runFrom(&r, off, n)
		f.fillRun(&r, int(off%int64(len(f.value)))) // the stream has nothing but values
		off, n = off+r.Bytes(), n-r.Bytes()
	}
	return off
}

// fillRun fills the places of r. Its first byte is byte phase of the value.
func (f *Filling) fillRun(r *Run, phase int) {
	d := at(f.c.dst, r.Dst)
	v := f.value
	if r.Count == 1 {
		repeat(bytesAt(d, r.Len), v, phase)
		return
	}
	p := unsafe.Pointer(unsafe.SliceData(v))
	size := r.Len
	if int64(len(v)) != r.Len {
		size = 0 // several values, joined
	}
	switch size {
	case 1:
		fillOf(d, r.DstStep, r.Count, *(*uint8)(p))
	case 2:
		fillOf(d, r.DstStep, r.Count, *(*uint16)(p))
	case 4:
		fillOf(d, r.DstStep, r.Count, *(*uint32)(p))
	case 8:
		fillOf(d, r.DstStep, r.Count, *(*uint64)(p))
	default:
		for i := range r.Count {
			repeat(bytesAt(unsafe.Add(d, i*r.DstStep), r.Len), v, 0)
		}
	}
}

func fillOf[E element](d unsafe.Pointer, ds, n int64, v E) {
	var i int64
	for range n {
		*(*E)(unsafe.Add(d, i)) = v
		i += ds
	}
}

// repeat fills b with v, from byte phase of v on.
func repeat(b, v []byte, phase int) {
	n := copy(b, v[phase:])
	n += copy(b[n:], v[:phase])
	for n < len(b) {
		n += copy(b[n:], b[:n])
	}
}
