package win

import (
	"fmt"
	"unsafe"

	"github.com/golci/golci/mpi/internal/core"
	"github.com/golci/golci/mpi/internal/dtype"
	"github.com/golci/golci/mpi/internal/epoch"
	"github.com/golci/golci/mpi/internal/errs"
	"github.com/golci/golci/mpi/internal/op"
)

// Accumulate combines elements with those of a target (12.3.4): the new one is old op from. Each element is updated
// atomically with respect to all accumulations. Those of one origin are made in its order. The operation is predefined,
// also Replace and NoOp: errs.Op. All elements are of one predefined type: errs.Type. Otherwise it is like Put.
func (w *Window) Accumulate(from Buf, to Place, o op.ID) error {
	return w.accumulate("Accumulate", from, nil, to, o, epoch.Access)
}

// Raccumulate is Accumulate that can be waited for: it is done when it returns.
func (w *Window) Raccumulate(from Buf, to Place, o op.ID) (core.Request, error) {
	return w.requested(w.accumulate("Raccumulate", from, nil, to, o, epoch.AccessReq))
}

// GetAccumulate is Accumulate that brings the old elements into old (12.3.4). With NoOp from is not looked at.
// Otherwise it is like Accumulate.
func (w *Window) GetAccumulate(from, old Buf, to Place, o op.ID) error {
	return w.accumulate("Get_accumulate", from, &old, to, o, epoch.Access)
}

// RgetAccumulate is GetAccumulate that can be waited for: it is done when it returns.
func (w *Window) RgetAccumulate(from, old Buf, to Place, o op.ID) (core.Request, error) {
	return w.requested(w.accumulate("Rget_accumulate", from, &old, to, o, epoch.AccessReq))
}

// FetchAndOp is GetAccumulate of one element of a predefined type t.
func (w *Window) FetchAndOp(from, old unsafe.Pointer, t *dtype.Type, rank int, disp int64, o op.ID) error {
	to := Place{Rank: rank, Disp: disp, N: 1, T: t}
	if t == nil || t.Basic() == 0 {
		return w.winErrorf("Fetch_and_op", fmt.Errorf("%w: it is not predefined", errs.Type))
	}
	return w.accumulate("Fetch_and_op", Buf{Mem: from, N: 1, T: t}, &Buf{Mem: old, N: 1, T: t}, to, o, epoch.Access)
}

func (w *Window) accumulate(what string, from Buf, old *Buf, to Place, o op.ID, kind epoch.Call) error {
	if w.accumulateDirect(&from, old, &to, o, kind) {
		return nil
	}
	if o == op.NoOp && old != nil { // the origin means nothing
		from = Buf{T: dtype.Named(dtype.Byte)}
	}
	if op.Predefined(o) == nil {
		return w.winErrorf(what, fmt.Errorf("%w: none that is predefined", errs.Op))
	}
	bufs := []Buf{from}
	if old != nil {
		bufs = append(bufs, *old)
	}
	c, err := w.findTarget(what, to, kind, bufs...)
	if c == nil {
		return err
	}
	return c.finishCall(c.accumulate(from, old, o))
}

func (c *call) accumulate(from Buf, old *Buf, o op.ID) error {
	basic, runs, err := elementRuns(c.to.T, c.to.N, c.offset)
	if err != nil || len(runs) == 0 {
		return err
	}
	if basic == dtype.Char { // no number in the standard; MPICH's programs count with it
		basic = dtype.SignedChar
	}
	if _, ok := op.Lookup(o, basic); !ok && o != op.NoOp {
		return fmt.Errorf("%w: %v is not for elements of %v", errs.Op, o, basic)
	}
	n := bytesOf(Buf{N: c.to.N, T: c.to.T})
	p := program{code: code(o), basic: basic, runs: runs, fetch: old != nil}
	if o != op.NoOp {
		if have := bytesOf(from); have != n {
			return fmt.Errorf("%w: %d bytes here, %d at the target", errs.Truncate, have, n)
		}
		p.data = native(basic, packed(from))
	}
	var dst []byte
	if old != nil {
		if have := bytesOf(*old); have != n {
			return fmt.Errorf("%w: %d bytes for the old elements, %d at the target", errs.Truncate, have, n)
		}
		dst, c.then = nativeRoom(basic, *old)
	}
	return c.perform(p, dst)
}

// CompareAndSwap replaces an element of a target by from if it equals compare, and brings the old one into old
// (12.3.4). t is an integer, logical or byte type: errs.Type. Otherwise it is like FetchAndOp.
func (w *Window) CompareAndSwap(from, compare, old unsafe.Pointer, t *dtype.Type, rank int, disp int64) error {
	const what = "Compare_and_swap"
	if t == nil || t.Basic() == 0 || !swappable(t.Basic()) {
		return w.winErrorf(what, fmt.Errorf("%w: not of integers, truth values or bytes", errs.Type))
	}
	to, one := Place{Rank: rank, Disp: disp, N: 1, T: t}, Buf{N: 1, T: t}
	if w.swapDirect(from, compare, old, &to) {
		return nil
	}
	origin, expected, result := one, one, one
	origin.Mem, expected.Mem, result.Mem = from, compare, old
	c, err := w.findTarget(what, to, epoch.Access, origin, expected, result)
	if c == nil {
		return err
	}
	p := program{code: codeSwap, basic: t.Basic(), runs: []run{{c.offset, 1}}}
	p.data = append(append([]byte{}, packed(expected)...), packed(origin)...)
	dst, then := room(result)
	c.then = then
	return c.finishCall(c.perform(p, dst))
}

// perform carries an accumulation out, or has the target do it.
func (c *call) perform(p program, old []byte) error {
	if near := c.here(); near != nil {
		return near.carryOut(p, old)
	}
	return c.sendProgram(p, old)
}

// swappable tells whether elements are integers, truth values or bytes: they have bitwise or logical operations. As in
// MPICH characters of C are integers, too.
func swappable(b dtype.Basic) bool {
	if b == dtype.Char {
		return true
	}
	_, bits := op.Lookup(op.Band, b)
	_, truth := op.Lookup(op.Land, b)
	return bits || truth
}

// native gives elements of a basic, whose data lie one behind the other, an extent apart.
func native(b dtype.Basic, data []byte) []byte {
	t := dtype.Named(b)
	if t.Dense() || len(data) == 0 {
		return data
	}
	_, apart := t.Bounds()
	n := int64(len(data)) / t.Size()
	out := make([]byte, n*apart)
	var c dtype.Cursor
	t.Over(&c, unsafe.Pointer(&out[0]), n)
	c.Unpack(data, 0)
	return out
}

// nativeRoom is room for elements an extent apart.
func nativeRoom(b dtype.Basic, to Buf) (mem []byte, then func()) {
	t := dtype.Named(b)
	if t.Dense() {
		return room(to)
	}
	_, apart := t.Bounds()
	n := bytesOf(to) / t.Size()
	mem = make([]byte, n*apart)
	return mem, func() {
		dst, bring := room(to)
		var c dtype.Cursor
		t.Over(&c, unsafe.Pointer(&mem[0]), n)
		c.Pack(dst, 0)
		if bring != nil {
			bring()
		}
	}
}
