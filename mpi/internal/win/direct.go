package win

import (
	"bytes"
	"unsafe"

	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/op"
)

// Most accesses are of elements without holes, of one predefined type, to memory that is reached by loads and stores.
// What follows makes them without a call to keep. It finds no errors: where it refuses, the general way says why.

// plain tells whether b is elements as they lie at the target.
func (to *Place) plain(b *Buf) bool { return b.T == to.T && b.N == to.N && b.Mem != nil }

// direct gives the memory of a target if an access may be made there at once. The epoch knows of it then.
func (w *Window) direct(to *Place, kind epoch.Call) (n *mappedMemory, mem []byte) {
	const most = 1 << 40 // products of more might overflow; the general way looks at them
	if w.mapped == nil || w.flavor == Dynamic || uint(to.Rank) >= uint(len(w.ranks)) || to.T == nil ||
		!to.T.Plain() && (to.T.Basic() == 0 || !to.T.Dense()) || uint64(to.N-1) > most || uint64(to.Disp) > most {
		return nil, nil
	}
	p := &w.ranks[to.Rank]
	first, size := to.Disp*p.unit, to.N*to.T.Size()
	if p.unit > mostUnit || first > p.size-size || size == 0 {
		return nil, nil
	}
	if !w.opened(to.Rank, kind == epoch.AccessReq) && w.begun(kind, *to) != nil {
		return nil, nil
	}
	n = &w.mapped[to.Rank]
	first += p.skip
	return n, n.mem[first : first+size]
}

// mostUnit is the greatest unit of displacements that accesses without a call serve, in bytes.
const mostUnit = 1 << 20

// putDirect is a put that is done when it returns true.
func (w *Window) putDirect(from *Buf, to *Place, kind epoch.Call) bool {
	if !to.plain(from) {
		return false
	}
	_, mem := w.direct(to, kind)
	copy(mem, unsafe.Slice((*byte)(from.Mem), len(mem)))
	return mem != nil
}

// getDirect is a get that is done when it returns true.
func (w *Window) getDirect(into *Buf, from *Place, kind epoch.Call) bool {
	if !from.plain(into) {
		return false
	}
	_, mem := w.direct(from, kind)
	copy(unsafe.Slice((*byte)(into.Mem), len(mem)), mem)
	return mem != nil
}

// accumulateDirect is an accumulation that is done when it returns true. old may be nil.
func (w *Window) accumulateDirect(from, old *Buf, to *Place, o op.ID, kind epoch.Call) bool {
	if !to.plain(from) || old != nil && !to.plain(old) || to.T == nil {
		return false
	}
	f, ok := op.Lookup(o, to.T.Basic())
	if !ok {
		return false
	}
	n, mem := w.direct(to, kind)
	if mem == nil {
		return false
	}
	at := unsafe.Pointer(&mem[0])
	n.takeLock()
	if old != nil {
		copy(unsafe.Slice((*byte)(old.Mem), len(mem)), mem)
	}
	f(at, at, hidden(from.Mem), to.N)
	n.lock.Unlock()
	return true
}

// FetchDirect is FetchAndOp if that can be carried out at once, else it does nothing. It keeps no argument, so memory of
// the caller's stack will do.
func (w *Window) FetchDirect(from, old unsafe.Pointer, t *dtype.Type, rank int, disp int64, o op.ID) bool {
	to := Place{Rank: rank, Disp: disp, N: 1, T: t}
	return w.accumulateDirect(&Buf{Mem: from, N: 1, T: t}, &Buf{Mem: old, N: 1, T: t}, &to, o, epoch.Access)
}

// SwapDirect is CompareAndSwap as FetchDirect is FetchAndOp. t is a predefined type that has it.
func (w *Window) SwapDirect(from, compare, old unsafe.Pointer, t *dtype.Type, rank int, disp int64) bool {
	return swappable(t.Basic()) && w.swapDirect(from, compare, old, &Place{Rank: rank, Disp: disp, N: 1, T: t})
}

// hidden is p, which the compiler does not follow. What p is given to must not keep it.
func hidden(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}

// swapDirect is a compare and swap that is done when it returns true.
func (w *Window) swapDirect(from, compare, old unsafe.Pointer, to *Place) bool {
	if from == nil || compare == nil || old == nil {
		return false
	}
	n, mem := w.direct(to, epoch.Access)
	if mem == nil {
		return false
	}
	n.takeLock()
	had := unsafe.Slice((*byte)(old), len(mem))
	copy(had, mem)
	if bytes.Equal(had, unsafe.Slice((*byte)(compare), len(mem))) {
		copy(mem, unsafe.Slice((*byte)(from), len(mem)))
	}
	n.lock.Unlock()
	return true
}
