package rma

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/am"
)

// Number is what remote atomics work on: 4 or 8 bytes at an offset that is a multiple of the size.
type Number interface {
	~int32 | ~int64 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Integer are the numbers that have bits.
type Integer interface {
	~int32 | ~int64 | ~uint32 | ~uint64
}

// Op is what an atomic does with the old value, and with one operand, or two for CompareSwap.
type Op uint8

// Operations. And, Or and Xor are for integers.
const (
	OpGet         Op = iota // nothing
	OpSet                   // the operand
	OpAdd                   // sum; integers wrap
	OpSub                   // difference
	OpInc                   // sum with 1
	OpDec                   // difference with 1
	OpMin                   // the smaller one
	OpMax                   // the larger one
	OpAnd                   // bits of both
	OpOr                    // bits of either
	OpXor                   // bits of one
	OpCompareSwap           // the second operand, if the old value equals the first (floats by value, so NaN never does)
	opEnd
)

// String names the operation.
func (o Op) String() string {
	names := [opEnd]string{"get", "set", "add", "sub", "inc", "dec", "min", "max", "and", "or", "xor", "compare-and-swap"}
	if o < opEnd {
		return names[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// numberKind is a Number's type on the wire.
type numberKind uint8

const (
	kindInt32 numberKind = iota
	kindInt64
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kindEnd
)

func (k numberKind) size() int {
	if k == kindInt32 || k == kindUint32 || k == kindFloat32 {
		return 4
	}
	return 8
}

func (k numberKind) float() bool { return k == kindFloat32 || k == kindFloat64 }

// kindOf tells T's kind from how it computes: a type switch would not see named types.
func kindOf[T Number]() numberKind {
	var zero T
	one := T(1)
	wide := unsafe.Sizeof(zero) == 8
	switch half := one / 2; {
	case half != 0 && wide:
		return kindFloat64
	case half != 0:
		return kindFloat32
	case zero-one < zero && wide:
		return kindInt64
	case zero-one < zero:
		return kindInt32
	case wide:
		return kindUint64
	}
	return kindUint32
}

// bitsOf and fromBits go between a number and its bits, the low 4 or all 8 bytes.
func bitsOf[T Number](v T) uint64 {
	if unsafe.Sizeof(v) == 8 {
		return *(*uint64)(unsafe.Pointer(&v))
	}
	return uint64(*(*uint32)(unsafe.Pointer(&v)))
}

func fromBits[T Number](b uint64) (v T) {
	if unsafe.Sizeof(v) == 8 {
		*(*uint64)(unsafe.Pointer(&v)) = b
	} else {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(b)
	}
	return v
}

// Atomic does op at offset off of peer's segment with operands a and b (b of CompareSwap alone), and returns the old
// value. It is atomic with respect to all remote atomics of the job on that number, of whatever type and way, and to
// Go's typed atomics on the owner's segment; not to puts and gets. It orders memory as Go's atomics do.
//
// It blocks as Put does. Errors as for Put; ErrAlign, and ErrArgument for bits of floats or an unknown op.
func Atomic[T Number](m *Memory, op Op, peer int, off int64, a, b T) (T, error) {
	k := kindOf[T]()
	if off&int64(k.size()-1) == 0 {
		if d := m.directBytes(peer, off, k.size()); d != nil && isValidOp(op, k) {
			return fromBits[T](m.applyDirectly(d, op, k, bitsOf(a), bitsOf(b))), nil
		}
	}
	h, err := m.doAtomic(op, k, peer, off, bitsOf(a), bitsOf(b), result{}, nil)
	if err != nil {
		return 0, err
	}
	v, err := h.Wait()
	return fromBits[T](v), err
}

// AtomicNB starts an Atomic. The old value is stored to *old before the handle is done, unless old is nil.
func AtomicNB[T Number](m *Memory, op Op, peer int, off int64, a, b T, old *T) (Handle, error) {
	h, err := m.doAtomic(op, kindOf[T](), peer, off, bitsOf(a), bitsOf(b), into(old), nil)
	if err != nil {
		return Handle{}, err
	}
	if h.done {
		into(old).store(h.v)
	}
	return h.h, nil
}

// AtomicNBI starts an implicit Atomic in c, which WaitPuts waits for. old is as for AtomicNB.
func AtomicNBI[T Number](c *Context, op Op, peer int, off int64, a, b T, old *T) error {
	h, err := c.m.doAtomic(op, kindOf[T](), peer, off, bitsOf(a), bitsOf(b), into(old), c)
	if err == nil && h.done {
		into(old).store(h.v)
	}
	return err
}

func into[T Number](p *T) result {
	if p == nil {
		return result{}
	}
	return result{unsafe.Pointer(p), unsafe.Sizeof(*p) == 8}
}

// doAtomic is the way of atomics that are not done at first sight.
func (m *Memory) doAtomic(
	op Op, k numberKind, peer int, off int64, a, b uint64, to result, c *Context,
) (ValueHandle, error) {
	if !isValidOp(op, k) {
		return ValueHandle{}, fmt.Errorf("%w: rank %d: %v of numbers of kind %d", ErrArgument, peer, op, k)
	}
	mem, t, err := m.reachBytes(peer, off, k.size())
	switch {
	case err != nil:
		return ValueHandle{}, err
	case off&int64(k.size()-1) != 0:
		return ValueHandle{}, fmt.Errorf("%w: rank %d, offset %d is not a multiple of %d", ErrAlign, peer, off,
			k.size())
	case mem != nil:
		return ValueHandle{v: m.applyDirectly(mem, op, k, a, b), done: true}, nil
	}
	h, err := m.startShort(t, c, to, hAtomic, uint64(off), uint64(op)|uint64(k)<<8, a, b)
	return ValueHandle{h: h}, err
}

func isValidOp(op Op, k numberKind) bool {
	return op < opEnd && k < kindEnd && (!k.float() || op < OpAnd || op > OpXor)
}

func (m *Memory) onAtomic(t *am.Token, a []uint64, _ []byte) error {
	op, k := Op(a[2]), numberKind(a[2]>>8)
	d, ok := m.localBytes(a[1], uint64(k.size()))
	if !ok || a[1]%uint64(k.size()) != 0 || !isValidOp(op, k) {
		return m.onOldValue(t, a[0], 0, false)
	}
	return m.onOldValue(t, a[0], applyOp(d, op, k, a[3], a[4]), true)
}

// applyOp does op on the number at d, which is aligned, and returns its old bits.
func applyOp(d []byte, op Op, k numberKind, a, b uint64) uint64 {
	if k.size() == 8 {
		return apply64((*atomic.Uint64)(unsafe.Pointer(&d[0])), op, k, a, b)
	}
	return uint64(apply32((*atomic.Uint32)(unsafe.Pointer(&d[0])), op, k, uint32(a), uint32(b)))
}

func apply64(p *atomic.Uint64, op Op, k numberKind, a, b uint64) uint64 {
	switch {
	case op == OpGet:
		return p.Load()
	case op == OpSet:
		return p.Swap(a)
	case op == OpAdd && !k.float():
		return p.Add(a) - a
	case op == OpInc && !k.float():
		return p.Add(1) - 1
	}
	for {
		old := p.Load()
		if v := steps[k](op, old, a, b); v == old || p.CompareAndSwap(old, v) {
			return old
		}
	}
}

func apply32(p *atomic.Uint32, op Op, k numberKind, a, b uint32) uint32 {
	switch {
	case op == OpGet:
		return p.Load()
	case op == OpSet:
		return p.Swap(a)
	case op == OpAdd && !k.float():
		return p.Add(a) - a
	case op == OpInc && !k.float():
		return p.Add(1) - 1
	}
	for {
		old := p.Load()
		v := uint32(steps[k](op, uint64(old), uint64(a), uint64(b)))
		if v == old || p.CompareAndSwap(old, v) {
			return old
		}
	}
}

// steps compute what op makes of the bits old, by kind.
var steps = [kindEnd]func(op Op, old, a, b uint64) uint64{
	kindInt32: stepValue[int32], kindInt64: stepValue[int64], kindUint32: stepValue[uint32], kindUint64: stepValue[uint64],
	kindFloat32: stepValue[float32], kindFloat64: stepValue[float64],
}

func stepValue[T Number](op Op, old, a, b uint64) uint64 {
	switch op {
	case OpAnd:
		return old & a
	case OpOr:
		return old | a
	case OpXor:
		return old ^ a
	}
	return bitsOf(next(op, fromBits[T](old), fromBits[T](a), fromBits[T](b)))
}

// next computes what op makes of old.
func next[T Number](op Op, old, a, b T) T {
	switch op {
	case OpAdd:
		return old + a
	case OpSub:
		return old - a
	case OpInc:
		return old + 1
	case OpDec:
		return old - 1
	case OpMin:
		return min(old, a)
	case OpMax:
		return max(old, a)
	case OpCompareSwap:
		if old == a {
			return b
		}
	}
	return old
}
