package rma

import "encoding/binary"

// Get copies len(dst) bytes from offset off of peer's segment to dst. It blocks, fails and allocates as Put does.
func (m *Memory) Get(peer int, off int64, dst []byte) error {
	if s := m.directBytes(peer, off, len(dst)); s != nil {
		copy(dst, s)
		return nil
	}
	return waitStarted(m.getSlowly(peer, off, dst, nil, false))
}

// GetNB starts a Get. dst must be left alone until the handle is done.
func (m *Memory) GetNB(peer int, off int64, dst []byte) (Handle, error) {
	return m.getSlowly(peer, off, dst, nil, false)
}

// TryGetNB is GetNB in immediate mode, see TryPutNB.
func (m *Memory) TryGetNB(peer int, off int64, dst []byte) (Handle, error) {
	return m.getSlowly(peer, off, dst, nil, true)
}

// getSlowly is the way of all gets that are not loads at first sight. c is nil for an explicit one.
func (m *Memory) getSlowly(peer int, off int64, dst []byte, c *Context, immediate bool) (Handle, error) {
	mem, t, err := m.reachBytes(peer, off, len(dst))
	if err != nil || mem != nil || len(dst) == 0 {
		copy(dst, mem)
		return Handle{}, err
	}
	o, err := m.newTransfer(t, off, nil, dst)
	if err != nil {
		return Handle{}, err
	}
	return m.launchIn(o, c, immediate)
}

// GetValue loads n bytes (1 to 8), little-endian, from offset off of peer's segment; ErrArgument for other n.
func (m *Memory) GetValue(peer int, off int64, n int) (uint64, error) {
	if s := m.directBytes(peer, off, n); s != nil {
		if v, ok := getValue(s); ok {
			return v, nil
		}
	}
	h, err := m.GetValueNB(peer, off, n)
	if err != nil {
		return 0, err
	}
	return h.Wait()
}

// ValueHandle stands for a GetValueNB, an atomic, or another operation that brings a value.
type ValueHandle struct {
	h    Handle
	v    uint64
	done bool // v is there already
}

// GetValueNB starts a GetValue.
func (m *Memory) GetValueNB(peer int, off int64, n int) (ValueHandle, error) {
	if n < 1 || n > 8 {
		return ValueHandle{}, sizeError(peer, n)
	}
	mem, t, err := m.reachBytes(peer, off, n)
	if err != nil || mem != nil {
		v, _ := getValue(mem)
		return ValueHandle{v: v, done: true}, err
	}
	h, err := m.startShort(t, nil, result{}, hLoad, uint64(off), uint64(n))
	return ValueHandle{h: h}, err
}

// Wait returns the value when it is there. It blocks as Handle.Wait does. A second Wait returns zero.
func (h *ValueHandle) Wait() (v uint64, err error) {
	if v = h.v; h.h.isValid() {
		if v, err = h.h.endOp(); h.h.isValid() {
			return 0, err
		}
	}
	*h = ValueHandle{}
	return v, err
}

// Test reports, without polling, whether Wait would return at once.
func (h *ValueHandle) Test() bool { return h.h.isReady() }

func getValue(s []byte) (v uint64, ok bool) {
	switch len(s) {
	case 8:
		return binary.LittleEndian.Uint64(s), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(s)), true
	case 1, 2, 3, 5, 6, 7:
		for i, b := range s {
			v |= uint64(b) << (8 * i)
		}
		return v, true
	}
	return 0, false
}
