package core

import (
	"unsafe"

	"github.com/golci/golci/comm/conduit"
	"github.com/golci/golci/internal/schedule"
)

// Long parts for one rank each do not cross the board. A rank brings the key of its buffer, and the others get their
// parts from where they lie. So a part is copied once, and crosses between cores once, at the price of a system call.

// canReach tells that this rank copies from the memory of the other ranks of the node by itself.
func (x *Call) canReach(on *nodes) bool {
	for _, r := range on.ranks {
		if r == x.rank {
			continue
		}
		if reach := x.c.proc.rank.Endpoint().Reach(int(x.c.peers[r])); !reach.Get || !reach.Near {
			return false
		}
	}
	return true
}

// boardAlltoallDirect is boardAlltoallLong for long parts.
func boardAlltoallDirect(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in) / x.size
	copy(out[x.rank*n:][:n], in[x.rank*n:])
	return x.getAll(in, n, x.rank*n)
}

// boardAllgatherDirect is boardAllgatherLong for long parts. In may lie in its place of Out.
func boardAllgatherDirect(x *Call, _ int) error {
	in, out := x.buf[schedule.In].mem, x.buf[schedule.Out].mem
	n := len(in)
	copy(out[x.rank*n:], in)
	return x.getAll(in, n, 0)
}

// getAll gets n bytes at an offset of the in of each rank, to their place in Out. It returns when all have what they
// want of this rank.
func (x *Call) getAll(in []byte, n, off int) error {
	out := x.buf[schedule.Out].mem
	keys, err := x.exposeAll(in)
	defer x.releaseAll(keys, len(in))
	if err != nil {
		return err
	}
	if err := x.bring(bytesIn(keys).mem); err != nil {
		return err
	}
	for k := 1; k < x.size; k++ {
		r := x.behindBy(k)
		b, err := x.brought(r, len(keys)*int(unsafe.Sizeof(keys[0])))
		if err != nil {
			return err
		}
		key := unsafe.Slice((*boardKey)(unsafe.Pointer(&b[0])), x.size)[x.rank]
		if key.size != 0 && key.size != uint64(len(in)) {
			return x.errorf(ErrCount, "rank %d sent %d bytes, %d were expected", r, key.size, len(in))
		}
		if err := x.c.Srv.Get(int(x.c.peers[r]), out[r*n:][:n], key.of(int64(len(in))), int64(off)); err != nil {
			return x.waitError(r, x.c.cause(err))
		}
	}
	return x.leave()
}

// of is the key of so many bytes.
func (k boardKey) of(n int64) conduit.Key { return conduit.Key{ID: k.id, Base: k.base, Size: n} }

// exposeAll lets the other ranks reach mem.
func (x *Call) exposeAll(mem []byte) ([]boardKey, error) {
	keys := make([]boardKey, x.size)
	for r := range keys {
		if r == x.rank {
			continue
		}
		k, status := x.c.proc.remote().Expose(int(x.c.peers[r]), mem)
		if status == conduit.Dead {
			continue // the wait for what r brings tells of it
		}
		if status != conduit.OK {
			return keys, x.errorf(ErrBuffer, "rank %d cannot be given access to %d bytes: %v", r, len(mem), status)
		}
		keys[r] = boardKey{size: uint64(len(mem)), id: k.ID, base: k.Base}
	}
	return keys, nil
}

// releaseAll ends what exposeAll began, for memory of n bytes.
func (x *Call) releaseAll(keys []boardKey, n int) {
	for r, k := range keys {
		if k.size != 0 {
			_ = x.c.proc.remote().Release(int(x.c.peers[r]), k.of(int64(n))) // an error is of a rank that has died
		}
	}
}

// leave says that this rank has done with the call, and waits until all ranks have.
func (x *Call) leave() error {
	x.tellDone(x.call + 1)
	return x.allDone(x.call + 1)
}
