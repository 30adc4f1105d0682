package rma

import (
	"encoding/binary"

	"github.com/golci/golci/internal/platform/arch"
)

// Put copies src to offset off, in bytes, of peer's segment, and returns when it is there. It allocates nothing.
// Where the peer's memory is mapped it does not block. Elsewhere it blocks the calling goroutine or thread until the
// peer has answered, or the conduit has put the bytes there.
//
// Errors, of Put and of all that access a segment: ErrRank, ErrBounds (naming rank, offset, size and segment),
// ErrClosed, ErrPeer if the peer has died. The first access to a peer blocks: it asks for the size of its segment.
func (m *Memory) Put(peer int, off int64, src []byte) error {
	if d := m.directBytes(peer, off, len(src)); d != nil {
		m.copyOut(peer, d, src)
		return nil
	}
	h, _, err := m.putSlowly(peer, off, src, putBlock, nil)
	return waitStarted(h, err)
}

// copyOut copies src to mapped memory of peer. In this rank's own memory the two may overlap.
func (m *Memory) copyOut(peer int, mem, src []byte) {
	if peer == m.rank {
		copy(mem, src)
	} else {
		arch.CopyOut(mem, src)
	}
}

// PutNB starts a Put. src may be reused when it returns. It blocks if src is too large to be kept (Config.Bounce).
func (m *Memory) PutNB(peer int, off int64, src []byte) (Handle, error) {
	h, _, err := m.putSlowly(peer, off, src, putNow, nil)
	return h, err
}

// PutNBBulk is PutNB that does not wait for src, which must not change until the handle is done.
func (m *Memory) PutNBBulk(peer int, off int64, src []byte) (Handle, error) {
	h, _, err := m.putSlowly(peer, off, src, putDefer, nil)
	return h, err
}

// PutNBLocal is PutNBBulk with a second handle, local, that is done when src may be reused. Both must be waited for.
func (m *Memory) PutNBLocal(peer int, off int64, src []byte) (h, local Handle, err error) {
	return m.putSlowly(peer, off, src, putEvent, nil)
}

// TryPutNB is PutNBBulk in immediate mode: if the transfer cannot begin at once, for want of credits or because
// others are queued before it, it returns ErrWouldBlock and has had no effect. What the conduit itself puts or gets is
// not refused. (The first access to a peer blocks all the same.)
func (m *Memory) TryPutNB(peer int, off int64, src []byte) (Handle, error) {
	h, _, err := m.putSlowly(peer, off, src, putTry, nil)
	return h, err
}

// putMode is when the source of a put may be reused.
type putMode uint8

const (
	putDefer putMode = iota // with the handle
	putNow                  // when the call returns
	putEvent                // with a handle of its own
	putTry                  // as putDefer, and the call may fail instead of waiting
	putBlock                // as putDefer, and the caller is going to wait
)

// putSlowly is the way of all puts that are not stores at first sight. c is nil for an explicit one.
func (m *Memory) putSlowly(peer int, off int64, src []byte, mode putMode, c *Context) (h, local Handle, err error) {
	mem, t, err := m.reachBytes(peer, off, len(src))
	if err != nil || mem != nil || len(src) == 0 {
		m.copyOut(peer, mem, src)
		return h, local, err
	}
	o, err := m.newTransfer(t, off, src, nil)
	if err == nil {
		h, err = o.enterContext(c)
	}
	if err != nil {
		return Handle{}, local, err
	}
	switch {
	case mode == putBlock && o.isLong():
		err = m.launchLong(o, hPutLong)
	case mode == putNow:
		err = m.launchNow(o)
	case mode == putEvent:
		local, err = m.launchEvent(o)
	default:
		err = m.launchOp(o, mode == putTry)
	}
	if err != nil {
		return Handle{}, Handle{}, err
	}
	return h, local, nil
}

// isLong tells whether the source of a put is to go as a Long message, whose bytes need no credits.
func (o *op) isLong() bool {
	return o.bulk == nil && len(o.send.src) > o.m.frag && o.send.off <= offsetMask
}

// launchNow returns when the source may be reused.
func (m *Memory) launchNow(o *op) error {
	if o.isLong() {
		return m.launchLong(o, hPutLong)
	}
	if o.bulk == nil && m.sendNow(o) {
		return nil
	}
	if o.keepSource() {
		return m.launchOp(o, false)
	}
	local, err := m.launchEvent(o)
	if err != nil {
		return err
	}
	m.prog.Wait(&local.o.done)
	_, _ = local.o.takeOutcome() // an error is the op's, too
	return nil
}

func (m *Memory) launchEvent(o *op) (Handle, error) {
	l, err := m.newOp(-1, 0, nil, result{})
	if err != nil {
		return Handle{}, o.cancelUnsent(err)
	}
	o.local = l
	local := l.handleOf()
	return local, m.launchOp(o, false)
}

// launchLong sends the source of a put in one Long message, with one answer, and returns when it may be reused.
func (m *Memory) launchLong(o *op, h uint8, args ...uint64) error {
	peer, off, src := o.peer, o.send.off, o.send.src
	o.mu.Lock()
	o.left = min(o.left, 1) // 0 if it was found dead already
	o.mu.Unlock()
	all := append(make([]uint64, 0, 1+maxArgs), o.id)
	err := m.e.RequestLong(peer, h, src, off, append(all, args...)...)
	o.onSent(err, nil)
	return nil
}

// PutValue stores the low n bytes (1 to 8) of v, little-endian, at offset off of peer's segment. It returns when they
// are there. Otherwise it is like Put; ErrArgument for another n.
func (m *Memory) PutValue(peer int, off int64, v uint64, n int) error {
	if d := m.directBytes(peer, off, n); d != nil && putValue(d, v) {
		return nil
	}
	return waitStarted(m.putValue(peer, off, v, n, nil))
}

// PutValueNB starts a PutValue.
func (m *Memory) PutValueNB(peer int, off int64, v uint64, n int) (Handle, error) {
	return m.putValue(peer, off, v, n, nil)
}

func (m *Memory) putValue(peer int, off int64, v uint64, n int, c *Context) (Handle, error) {
	if n < 1 || n > 8 {
		return Handle{}, sizeError(peer, n)
	}
	mem, t, err := m.reachBytes(peer, off, n)
	if err != nil || mem != nil {
		putValue(mem, v)
		return Handle{}, err
	}
	return m.startShort(t, c, result{}, hValue, uint64(off), uint64(n), v)
}

// putValue stores the low len(d) bytes of v; false if that is not 1 to 8.
func putValue(d []byte, v uint64) bool {
	switch len(d) {
	case 8:
		binary.LittleEndian.PutUint64(d, v)
	case 4:
		binary.LittleEndian.PutUint32(d, uint32(v))
	case 1, 2, 3, 5, 6, 7:
		for i := range d {
			d[i] = byte(v >> (8 * i))
		}
	default:
		return false
	}
	return true
}

// Memset sets n bytes from offset off of peer's segment to v, and returns when that is done. Otherwise like Put.
func (m *Memory) Memset(peer int, off int64, v byte, n int) error {
	return waitStarted(m.memset(peer, off, v, n, nil))
}

// MemsetNB starts a Memset.
func (m *Memory) MemsetNB(peer int, off int64, v byte, n int) (Handle, error) {
	return m.memset(peer, off, v, n, nil)
}

func (m *Memory) memset(peer int, off int64, v byte, n int, c *Context) (Handle, error) {
	mem, t, err := m.reachBytes(peer, off, n)
	if err != nil || mem != nil || n == 0 {
		fillBytes(mem, v)
		return Handle{}, err
	}
	return m.startShort(t, c, result{}, hSet, uint64(off), uint64(n), uint64(v))
}

func fillBytes(d []byte, v byte) {
	if v == 0 {
		clear(d)
		return
	}
	for i := range d {
		d[i] = v
	}
}

// startShort starts an op of one record without payload, whose old value goes to a place.
func (m *Memory) startShort(t *target, c *Context, to result, h uint8, args ...uint64) (Handle, error) {
	o, err := m.newOp(t.rank, 1, nil, to)
	if err != nil {
		return Handle{}, err
	}
	o.send = sendState{kind: sendOne, h: h, nargs: len(args)}
	copy(o.send.args[:], args)
	return m.launchIn(o, c, false)
}

// launchIn launches o as one of c, if that is not nil; the handle is then zero.
func (m *Memory) launchIn(o *op, c *Context, immediate bool) (Handle, error) {
	h, err := o.enterContext(c)
	if err == nil {
		err = m.launchOp(o, immediate)
	}
	if err != nil {
		return Handle{}, err
	}
	return h, nil
}
