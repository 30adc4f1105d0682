package argument

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/op"
	"github.com/golci/golci/mpi/internal/sentinel"
	"github.com/golci/golci/mpi/internal/signature"
)

// combiner combines elements without holes, as the schedule has them.
type combiner struct {
	op.Combiner
	size int // bytes of an element
}

// Into implements Combiner.
func (c *combiner) Into(out, low, high []byte) {
	if len(out) > 0 { // the functions of programs in C give no errors, and others have none
		_ = c.Combine(unsafe.Pointer(&out[0]), unsafe.Pointer(&low[0]), unsafe.Pointer(&high[0]), int64(len(out)/c.size))
	}
}

// holedCombiner combines packed elements of a type with holes: they are unpacked for the operation, and packed again.
type holedCombiner struct {
	combiner
	t *dtype.Type
}

// Into implements Combiner.
func (c *holedCombiner) Into(out, low, high []byte) {
	n := int64(len(out) / c.size)
	if n == 0 {
		return
	}
	var a, b dtype.Cursor
	pa, sa := c.unpack(&a, low, n)
	pb, sb := c.unpack(&b, high, n)
	_ = c.Combine(pb, pa, pb, n)
	b.Pack(out[:n*int64(c.size)], 0)
	sa.Release()
	sb.Release()
}

// unpack puts n elements into memory as the type has them. It gives where they begin, which is within that memory.
func (c *holedCombiner) unpack(cur *dtype.Cursor, from []byte, n int64) (unsafe.Pointer, *Scratch) {
	low, data := c.t.TrueBounds()
	_, extent := c.t.Bounds()
	first := min(0, low, low+(n-1)*extent)
	mem, s := Borrow(int(max(0, low+data, low+data+(n-1)*extent) - first))
	clear(mem)
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(mem)), -first)
	c.t.Over(cur, at, n)
	cur.Unpack(from[:n*int64(c.size)], 0)
	return at, s
}

// predefinedOps is more than the number of each predefined operation.
const predefinedOps = 0x40

// operators are those of predefined operations and datatypes that were asked for. They do not change.
var operators [predefinedOps][signature.BasicTypes]atomic.Pointer[Operator]

// operatorFor gives the operation on packed elements of t, and their size.
func operatorFor(o *op.Op, t *dtype.Type) (int, Operator, error) {
	var slot *atomic.Pointer[Operator]
	if o != nil && t != nil {
		if i := int(t.Basic()) - signature.FirstBasic; uint(i) < signature.BasicTypes && uint(o.ID()-1) < predefinedOps-1 {
			if slot = &operators[o.ID()][i]; slot.Load() != nil {
				return int(t.Size()), *slot.Load(), nil
			}
		}
	}
	size, p, err := makeOperator(o, t)
	if err != nil {
		return 0, Operator{}, err
	}
	if slot != nil {
		slot.Store(p) // two at once make the same
	}
	return size, *p, nil
}

func makeOperator(o *op.Op, t *dtype.Type) (size int, p *Operator, err error) {
	f, err := o.For(t)
	if err != nil {
		return 0, nil, fmt.Errorf("%w: %w", sentinel.ErrOp, err)
	}
	c := combiner{f, int(max(t.Size(), 1))}
	p = &Operator{Combiner: &c, Commutes: o.Commutes(), ID: o.ID()}
	if !t.Dense() {
		p.Combiner = &holedCombiner{c, t}
	}
	return c.size, p, nil
}
