package reduce

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/realm/internal/space"
)

// Target is data that reductions are applied to: one field of some points in a memory. One goroutine at a time uses it;
// in mode Atomic others may apply to the same data at once, through targets of their own.
type Target[L, R any] struct {
	op     *Op[L, R]
	mode   Mode
	base   unsafe.Pointer // of the memory
	mem    []byte         // keeps it alive
	track  *space.Track
	space  space.Space
	linear bool  // the points are track.Step bytes apart, from off on
	off    int64 //
	step   int64

	n    int // reductions that wait in at and vals
	at   [batch]int64
	vals [batch]R
	offs [batch]int64
}

// Onto makes field f of the points of s in mem the target of reductions by o. The points are numbered as those of s.
// Errors are those of space.Layout.Track, errOp without Apply, and errType. The last means that the field does not have
// the size of L, or that memory is too small or not aligned for L. It also means that mode is Atomic and L has neither
// 4 nor 8 bytes.
func (o *Op[L, R]) Onto(mem []byte, l *space.Layout, f int, s space.Space, mode Mode) (*Target[L, R], error) {
	if o.Apply == nil {
		return nil, fmt.Errorf("%w: %q has no Apply", errOp, o.Name)
	}
	if s.Err() != nil {
		return nil, s.Err()
	}
	track, err := l.Track(s, f)
	if err != nil {
		return nil, err
	}
	t := &Target[L, R]{
		op: o, mode: mode, base: unsafe.Pointer(unsafe.SliceData(mem)), mem: mem, track: track, space: s,
		step: track.Step(),
	}
	t.off, t.linear = track.Linear()
	return t, t.checkLayout(l, f)
}

func (t *Target[L, R]) checkLayout(l *space.Layout, f int) error {
	var x L
	size, align := unsafe.Sizeof(x), unsafe.Alignof(x)
	if t.mode == Atomic {
		align = max(align, size)
	}
	if field := l.Fields()[f]; uintptr(field.Size) != size || uintptr(field.Align) < align {
		return fmt.Errorf("%w: field %q of %d bytes, alignment %d, for a type of %d bytes, alignment %d",
			errType, field.Name, field.Size, field.Align, size, align)
	}
	if int64(len(t.mem)) < l.Size() || uintptr(t.base)%align != 0 {
		return fmt.Errorf("%w: memory of %d bytes, %d bytes off alignment; the layout needs %d",
			errType, len(t.mem), uintptr(t.base)%align, l.Size())
	}
	return checkAtomic("data", size, t.mode)
}

// fitsPoints tells whether an instance of op and p can be applied to t.
func (t *Target[L, R]) fitsPoints(op *Op[L, R], p *points) error {
	if op != t.op || !t.space.Equal(p.space) {
		return fmt.Errorf("%w: reductions by %q into %v, target: %q, %v", errType, op.Name, p.space, t.op.Name, t.space)
	}
	return nil
}

// applyPoints applies v to the points from number first on.
func (t *Target[L, R]) applyPoints(first int64, v []R) {
	for len(v) > 0 {
		off, n := t.findTrack(first)
		n = min(n, int64(len(v)))
		var x L
		if t.mode == Exclusive && t.step == int64(unsafe.Sizeof(x)) {
			t.op.loops().applyRow(unsafe.Slice((*L)(unsafe.Add(t.base, off)), n), v[:n])
		} else {
			n = min(n, batch)
			for k := range n {
				t.offs[k] = off + k*t.step
			}
			t.apply(t.offs[:n], v[:n])
		}
		first, v = first+n, v[n:]
	}
}

// findTrack is Track.Find.
func (t *Target[L, R]) findTrack(n int64) (off, run int64) {
	if t.linear {
		return t.off + n*t.step, t.track.Count() - n
	}
	return t.track.Find(n)
}

// putRow applies v to the points from number first on, some time before flush returns.
func (t *Target[L, R]) putRow(first int64, v []R) {
	for k, x := range v {
		if t.n == batch {
			t.flushRows()
		}
		t.at[t.n], t.vals[t.n] = first+int64(k), x
		t.n++
	}
}

func (t *Target[L, R]) flushRows() {
	t.applyEach(t.at[:t.n], t.vals[:t.n])
	t.n = 0
}

// applyEach applies v to the points of these numbers, which exist: a batch at most.
func (t *Target[L, R]) applyEach(at []int64, v []R) {
	offs := t.offs[:len(at)]
	if t.linear {
		for k, n := range at {
			offs[k] = t.off + n*t.step
		}
	} else {
		for k, n := range at {
			offs[k], _ = t.track.Find(n)
		}
	}
	t.apply(offs, v)
}

// apply applies v to the data at byte offsets.
func (t *Target[L, R]) apply(offs []int64, v []R) {
	if t.mode == Exclusive {
		t.op.loops().applyAt(t.base, offs, v)
		return
	}
	for k, off := range offs {
		update(unsafe.Add(t.base, off), t.op.Apply, v[k])
	}
}
