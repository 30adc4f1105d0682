package win

import (
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/golci/golci/mpi/internal/errs"
)

// pieces is the memory that has been attached to a dynamic window, by its addresses, which are the offsets.
type pieces struct {
	mu   sync.Mutex // held while the list is changed
	list atomic.Pointer[[]piece]
}

// piece is attached memory. mem keeps it alive, if it is of Go.
type piece struct {
	at  uintptr
	mem []byte
}

// findBytes gives n bytes at an address. They may lie in several pieces that touch each other. The poller calls it.
func (p *pieces) findBytes(off int64, n int) []byte {
	all := p.allPieces()
	first := holder(all, uintptr(off))
	if first < 0 {
		return nil
	}
	start := uintptr(off) - all[first].at
	if end := uintptr(off) + uintptr(n); !covered(all, first, end) {
		return nil
	}
	return unsafe.Slice(&all[first].mem[start], n)
}

// holder is the piece that holds the byte at an address, -1 if none does.
func holder(all []piece, at uintptr) int {
	i := behind(all, at) - 1
	if i < 0 || at-all[i].at >= uintptr(len(all[i].mem)) {
		return -1
	}
	return i
}

// behind is the first piece that begins behind an address. The pieces are in the order of their addresses.
func behind(all []piece, at uintptr) int {
	return sort.Search(len(all), func(i int) bool { return all[i].at > at })
}

// covered tells whether pieces from all[i] on, which touch each other, reach up to end.
func covered(all []piece, i int, end uintptr) bool {
	for i >= 0 {
		next := all[i].at + uintptr(len(all[i].mem))
		if next >= end {
			return true
		}
		i = holder(all, next)
	}
	return false
}

func (p *pieces) allPieces() []piece {
	if l := p.list.Load(); l != nil {
		return *l
	}
	return nil
}

// Attach lets other ranks reach size bytes at base (12.2.4). It does not wait. Errors: errs.RMAFlavor for a window that
// is not dynamic, errs.Arg, errs.Size; errs.RMAAttach for memory that is attached in part already.
func (w *Window) Attach(base unsafe.Pointer, size int64) error {
	const what = "Win_attach"
	switch {
	case w.pieces == nil:
		return w.winErrorf(what, fmt.Errorf("%w: it is not dynamic", errs.RMAFlavor))
	case size < 0:
		return w.winErrorf(what, fmt.Errorf("%w: %d bytes", errs.Size, size))
	case size == 0:
		return nil
	case base == nil:
		return w.winErrorf(what, fmt.Errorf("%w: no memory for %d bytes", errs.Arg, size))
	}
	p, at := w.pieces, uintptr(base)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.allPieces()
	i := behind(all, at)
	if holder(all, at) >= 0 || i < len(all) && all[i].at < at+uintptr(size) {
		return w.winErrorf(what, fmt.Errorf("%w: memory at %#x is attached already", errs.RMAAttach, at))
	}
	l := make([]piece, 0, len(all)+1)
	l = append(append(append(l, all[:i]...), piece{at, unsafe.Slice((*byte)(base), size)}), all[i:]...)
	p.list.Store(&l)
	return nil
}

// Detach ends what Attach began for base. Errors: errs.RMAFlavor; errs.RMAAttach if nothing is attached there.
func (w *Window) Detach(base unsafe.Pointer) error {
	const what = "Win_detach"
	if w.pieces == nil {
		return w.winErrorf(what, fmt.Errorf("%w: it is not dynamic", errs.RMAFlavor))
	}
	p := w.pieces
	p.mu.Lock()
	defer p.mu.Unlock()
	l := slices.Clone(p.allPieces())
	i := behind(l, uintptr(base)) - 1
	if i < 0 || l[i].at != uintptr(base) {
		return w.winErrorf(what, fmt.Errorf("%w: nothing is attached at %#x", errs.RMAAttach, uintptr(base)))
	}
	l = slices.Delete(l, i, i+1)
	p.list.Store(&l)
	return nil
}
